import { fail } from '@coplay/core';
import { mean } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { CO_PLAYERS } from './adaptation/co-players';
import { advantage, cellsOf, cellsWith, type Found, upperEnd } from './adaptation/comparison';
import { KINDS, type Kind, type KindName } from './adaptation/kinds';
import { LEARNERS } from './adaptation/learned-co-players';
import { type MatrixResult, matrixGames, matrixRows } from './adaptation/matrix-games';
import { report, SOON } from './adaptation/report';
import { budgetOf } from './adaptation/training';
import { type Plan, type Trial, trial } from './adaptation/trial';

/** Left out of a quick run, which would spend its time on making their graphs: the others run the same code. */
const SLOW: readonly KindName[] = ['prosocial'];

/** The focal agents' co-players by default, and in a quick run. */
const RULES = Object.keys(CO_PLAYERS).join(';');
const QUICK = 'NearestStag;Mixed(0.5);PPO';

/** Does who models the others' goals, and plans, soon do well among strangers? */
export const study: Experiment = {
  name: 'adaptation',
  description:
    'few-shot adaptation on the stag hunt 4x4: HOP, its ablations and baselines meet rules; LOLA in matrix games',
  minutes: 140,
  seeds: 5,
  options: {
    steps: { what: 'environment steps of self-play for HOP and direct-OM', default: '122880' },
    'ppo-steps': { what: 'the same for PPO, prosocial PPO and social influence', default: '200704' },
    episodes: { what: 'episodes with each kind of co-player', default: '30' },
    games: { what: 'games of so many episodes for each seed and co-player, in other seats', default: '3' },
    trees: { what: 'trees of a search among strangers', default: '5' },
    simulations: { what: 'simulations of each tree', default: '40' },
    'co-players': {
      what: `whom they meet, by label; there are ${Object.keys(LEARNERS).join(' and ')} of other trainings, too`,
      default: RULES,
    },
    kinds: { what: 'focal agents', default: Object.keys(KINDS).join(','), isSelection: true },
  },
  bars: {
    hop_not_below: {
      what: 'HOP less PPO or direct-OM against any rule, either line-up: least upper end of the intervals',
      atLeast: 0,
    },
    above_ppo_soon: { what: `HOP less PPO, mean over rules and line-ups, first ${SOON} episodes`, atLeast: 0 },
    above_direct_soon: { what: `HOP less direct-OM, mean over rules and line-ups, first ${SOON} episodes`, atLeast: 0 },
    worth_of_inter: {
      what: 'HOP less HOP without inter-OM, co-players with one goal for all episodes',
      atLeast: 0,
    },
    worth_of_intra: {
      what: 'HOP less HOP without intra-OM, co-players whose goal changes between episodes',
      atLeast: 0,
    },
    lola_dilemma: { what: "LOLA in the iterated prisoner's dilemma: mean payoff a round (naive: -2)", atLeast: -1.3 },
  },
  async run(context) {
    const kinds = chosenKinds(context);
    const plan = planOf(context);
    const matrix = matrixGames(context.isQuick ? 2 : 20, context.isQuick ? 50 : 1000);
    context.table('LOLA and naive learners in iterated matrix games', matrixRows(matrix));
    const found: Partial<Record<KindName, Trial[]>> = {};
    for (const [name, kind] of kinds) {
      const label = `${kind.label} ${budgetOf(context, kind)} steps`;
      const trials = await context.seedLoop(label, (seed, place) => {
        return context.isQuick && seed > 1 ? null : trial(context, plan, kind, seed, place);
      });
      found[name] = trials.filter((one): one is Trial => one !== null);
    }
    await report(context, found, plan.coPlayers);
    return outcome(found, plan, matrix);
  },
};

function planOf({ isQuick, options }: Context): Plan {
  const number = (name: string) => Number(options[name]);
  return {
    game: stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 }),
    coPlayers: chosenCoPlayers(isQuick && options['co-players'] === RULES ? QUICK : options['co-players']),
    search: isQuick ? { trees: 2, simulations: 4 } : { trees: number('trees'), simulations: number('simulations') },
    episodes: isQuick ? 3 : number('episodes'),
    games: isQuick ? 1 : number('games'),
  };
}

/** The names in a list, each once. */
function namesIn(list: string, separator: string): string[] {
  const names = list.split(separator).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function chosenCoPlayers(list: string): string[] {
  const asked = namesIn(list, ';');
  const names = [...Object.keys(CO_PLAYERS), ...Object.keys(LEARNERS)];
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown === undefined && asked.length > 0) return asked;
  return fail('--co-players', `some of ${names.join(';')}`, unknown ?? 'none', 'Give those, with semicolons between.');
}

function chosenKinds({ isQuick, options }: Context): [KindName, Kind][] {
  const names = Object.keys(KINDS);
  const asked = namesIn(options['kinds'], ',');
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined || asked.length === 0) {
    fail('--kinds', `some of ${names.join(',')}`, unknown ?? 'none', 'Give those, with commas between.');
  }
  const isSlow = (name: KindName) => isQuick && asked.length === names.length && SLOW.includes(name);
  return (Object.entries(KINDS) as [KindName, Kind][]).filter(([name]) => asked.includes(name) && !isSlow(name));
}

function outcome(found: Found, plan: Plan, matrix: readonly MatrixResult[]) {
  const cells = cellsOf(plan.coPlayers.filter((name) => name in CO_PLAYERS)); // the bars are about rules
  const baselines = (['ppo', 'direct'] as const).flatMap((name) => cells.map((cell) => advantage(found, name, [cell])));
  const upperEnds = baselines.flatMap((one) => (one ? [upperEnd(one)] : []));
  const [dilemma] = matrix;
  return {
    figures: { found, matrix },
    bars: {
      hop_not_below: upperEnds.length > 0 ? Math.min(...upperEnds) : null,
      above_ppo_soon: advantage(found, 'ppo', cells, SOON)?.value ?? null,
      above_direct_soon: advantage(found, 'direct', cells, SOON)?.value ?? null,
      worth_of_inter: advantage(found, 'noInter', cellsWith(cells, 'fixed'))?.value ?? null,
      worth_of_intra: advantage(found, 'noIntra', cellsWith(cells, 'changing'))?.value ?? null,
      lola_dilemma: mean(dilemma.payoffs.map((pair) => mean(pair))),
    },
  };
}
