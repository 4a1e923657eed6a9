import { fail } from '@coplay/core';
import { mean } from '@coplay/diagnostics/statistics';
import type { Context, Experiment } from '../bench/harness';
import { BOARDS, type BoardName } from './adaptation/boards';
import { CO_PLAYERS } from './adaptation/co-players';
import { advantage, type Cell, cellsOf, cellsWith, type Found, lowerEnd, shareBehind } from './adaptation/comparison';
import { type DistinctByLineUp, distinctByLineUp } from './adaptation/distinct';
import { KINDS, type Kind, type KindName } from './adaptation/kinds';
import { LEARNERS } from './adaptation/learned-co-players';
import { type LolaMeetings, lolaRows, meetLola } from './adaptation/lola-co-players';
import { type MatrixResult, matrixGames, matrixRows } from './adaptation/matrix-games';
import type { Plan } from './adaptation/plan';
import { report, SOON } from './adaptation/report';
import { budgetOf } from './adaptation/training';
import { type Reference, reference, type Trial, trial } from './adaptation/trial';

/** The focal agents' co-players by default, and in a quick run. */
const RULES = Object.keys(CO_PLAYERS).join(';');
const QUICK = 'NearestStag;Mixed(0.5);PPO';

/** Does who models the others' goals, and plans, soon do well among strangers? */
export const study: Experiment = {
  name: 'adaptation',
  description:
    'few-shot adaptation on stag hunts where a wrong belief costs: HOP, its ablations and baselines meet strangers',
  minutes: 180,
  seeds: 10,
  options: {
    board: { what: `the board: ${Object.keys(BOARDS).join(', ')}; beliefs are judged on cost`, default: 'cost' },
    share: { what: 'probability that a partner of another kind plays a seat in training', default: '0.75' },
    steps: { what: 'environment steps of training for HOP and direct-OM', default: '122880' },
    'ppo-steps': { what: 'the same for PPO, prosocial PPO and social influence', default: '401408' },
    episodes: { what: 'episodes with each kind of co-player', default: '30' },
    games: { what: 'games of so many episodes for each seed and co-player, played at once', default: '8' },
    trees: { what: 'trees of a search among strangers', default: '5' },
    simulations: { what: 'simulations of each tree', default: '40' },
    'co-players': {
      what: `whom they meet, by label; there are ${Object.keys(LEARNERS).join(', ')} of other trainings, too`,
      default: RULES,
    },
    kinds: {
      what: `focal agents, of ${Object.keys(KINDS).join(', ')}; the last two are in no bar`,
      default: 'hop,noInter,noIntra,direct,ppo',
      isSelection: true,
    },
  },
  bars: {
    worst_cell: {
      what: 'lower end of HOP less the better of PPO and direct-OM, share of the range there: least of all cells',
      atLeast: -0.05,
    },
    above_ppo_soon: { what: `HOP less PPO, mean over cells, first ${SOON} episodes: lower end`, atLeast: 0 },
    above_direct_soon: { what: `HOP less direct-OM, mean over cells, first ${SOON} episodes: lower end`, atLeast: 0 },
    worth_of_inter: {
      what: 'HOP less HOP without inter-OM, co-players with one goal for all episodes: lower end',
      atLeast: 0,
    },
    worth_of_intra: {
      what: 'HOP less HOP without intra-OM, co-players whose goal changes between episodes: lower end',
      atLeast: 0,
    },
    lola_dilemma: { what: "LOLA in the iterated prisoner's dilemma: mean payoff a round (naive: -2)", atLeast: -1.3 },
  },
  async run(context) {
    const kinds = chosenKinds(context);
    const plan = planOf(context);
    const matrix = matrixGames(context.isQuick ? 2 : 20, context.isQuick ? 50 : 1000);
    context.table('LOLA and naive learners in iterated matrix games', matrixRows(matrix));
    const withLola = await context.seedLoop('matrix games with LOLA', (seed) => {
      return context.isQuick && seed > 1 ? null : meetLola(context, seed);
    });
    const meetings = withLola.filter((one): one is LolaMeetings => one !== null);
    context.table('With LOLA as the co-player, in matrix games', lolaRows(meetings));
    const rules = Object.fromEntries(Object.entries(CO_PLAYERS).filter(([name]) => plan.coPlayers.includes(name)));
    const distinct = await distinctByLineUp(plan.game, rules, plan.episodes, context.isQuick ? 4 : 16);
    const cells = (until: number) => cellsOf(plan.coPlayers, distinct, until);
    context.table('Episodes that count, since no earlier co-player acts equally in them', distinctRows(plan, distinct));
    const references = await context.seedLoop(`rules as focal agents, ${plan.board}`, (seed) => {
      return context.isQuick && seed > 1 ? null : reference(context, plan, seed);
    });
    const found: Partial<Record<KindName, Trial[]>> = {};
    for (const [name, kind] of kinds) {
      const label = `${plan.board}, ${kind.label}, ${budgetOf(context, kind)} steps, partners ${plan.share}`;
      const trials = await context.seedLoop(label, (seed, place) => {
        return context.isQuick && seed > 1 ? null : trial(context, plan, kind, seed, place);
      });
      found[name] = trials.filter((one): one is Trial => one !== null);
    }
    const known = references.filter((one): one is Reference => one !== null);
    await report(context, found, known, cells(plan.episodes), cells(SOON));
    return outcome(plan, found, known, { distinct, matrix, meetings, all: cells(plan.episodes), soon: cells(SOON) });
  },
};

function planOf({ isQuick, options }: Context): Plan {
  const number = (name: string) => Number(options[name]);
  const board = options['board'] as BoardName;
  if (!Object.hasOwn(BOARDS, board)) {
    fail('--board', `one of ${Object.keys(BOARDS).join(', ')}`, board, 'Give one of those.');
  }
  return {
    board,
    game: BOARDS[board].make(),
    share: number('share'),
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

function chosenKinds({ options }: Context): [KindName, Kind][] {
  const names = Object.keys(KINDS);
  const asked = namesIn(options['kinds'], ',');
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined || asked.length === 0) {
    fail('--kinds', `some of ${names.join(',')}`, unknown ?? 'none', 'Give those, with commas between.');
  }
  return (Object.entries(KINDS) as [KindName, Kind][]).filter(([name]) => asked.includes(name));
}

/** What the check of the co-players' actions found. */
function distinctRows({ episodes }: Plan, distinct: DistinctByLineUp) {
  return Object.entries(distinct).flatMap(([lineUp, found]) =>
    Object.entries(found).map(([label, { from, equals }]) => ({
      'line-up': lineUp,
      'co-players': label,
      'episodes that count': from >= episodes ? 'none: the same cell' : `${from + 1} to ${episodes}`,
      'acts before as': equals ?? '',
    })),
  );
}

interface Comparison {
  readonly distinct: DistinctByLineUp;
  readonly matrix: readonly MatrixResult[];
  readonly meetings: readonly LolaMeetings[];
  readonly all: readonly Cell[];
  readonly soon: readonly Cell[];
}

function outcome(
  plan: Plan,
  found: Found,
  references: readonly Reference[],
  { distinct, matrix, meetings, ...cells }: Comparison,
) {
  // Bars are about rules.
  const ofRules = (list: readonly Cell[]) => list.filter(({ coPlayer }) => coPlayer in CO_PLAYERS);
  const [all, soon] = [ofRules(cells.all), ofRules(cells.soon)];
  const shares = all.map((cell) => shareBehind(found, references, cell));
  const known = shares.filter((share) => share !== undefined);
  const lower = (over: KindName, list: readonly Cell[], until?: number) => {
    const estimate = advantage(found, over, list, until);
    return estimate ? lowerEnd(estimate) : null;
  };
  const [dilemma] = matrix;
  const behind = all.map((cell, i) => ({ ...cell, share: shares[i] ?? null }));
  return {
    figures: { board: plan.board, distinct, found, references, behind, matrix, meetings },
    bars: {
      worst_cell: known.length > 0 ? Math.min(...known) : null,
      above_ppo_soon: lower('ppo', soon, SOON),
      above_direct_soon: lower('direct', soon, SOON),
      worth_of_inter: lower('noInter', cellsWith(all, 'fixed')),
      worth_of_intra: lower('noIntra', cellsWith(all, 'changing')),
      lola_dilemma: mean(dilemma.payoffs.map((pair) => mean(pair))),
    },
  };
}
