import { type Agent, type AgentId, evaluate, type Game } from '@coplay/core';
import { bootstrap } from '@coplay/diagnostics/statistics';
import { matrixGame, randomAgent } from '@coplay/envs';
import { hopAgent, type LearningAgent, lola, memoryOneAgent, ppoAgent, selfPlay } from '@coplay/trainers';
import type { Context } from '../../bench/harness';

const ROUNDS = 20;
const GAMES = {
  "prisoner's dilemma": matrixGame({ kind: 'prisoners-dilemma', maxSteps: ROUNDS }),
  'stag hunt': matrixGame({ kind: 'stag-hunt', maxSteps: ROUNDS }),
} as const;
const DISCOUNT = 0.96;

/** Mean payoffs a round, with LOLA as the co-player. */
interface Payoffs {
  readonly focal: number;
  readonly lola: number;
}

/** By game and focal agent. */
export type LolaMeetings = Readonly<Record<string, Readonly<Record<string, Payoffs>>>>;

/**
 * Agents that learned among their like meet LOLA, which learned against LOLA, in iterated matrix games. There are no
 * goals in these games: HOP models actions, as direct-OM does.
 */
export async function meetLola({ isQuick }: Context, seed: number): Promise<LolaMeetings> {
  const found: Record<string, Record<string, Payoffs>> = {};
  for (const [name, game] of Object.entries(GAMES)) {
    const [, second] = game.agents;
    const learners = (kinds: readonly ['lola' | 'naive', 'lola' | 'naive']) => {
      const pair = lola({ game, discount: DISCOUNT, learners: kinds, seed });
      pair.train(isQuick ? 20 : 1000);
      return pair.parameters;
    };
    const [own, parameters] = learners(['lola', 'lola']);
    const coPlayer = memoryOneAgent({ game, id: second, parameters }) as Agent;
    const met = async (focal: Agent) => {
      const { returnMean } = await evaluate(game, [focal, coPlayer], { episodes: isQuick ? 4 : 200, seed });
      return { focal: returnMean[focal.id] / ROUNDS, lola: returnMean[second] / ROUNDS };
    };
    const [id] = game.agents;
    found[name] = {
      LOLA: await met(memoryOneAgent({ game, id, parameters: own }) as Agent),
      'naive learner': await met(memoryOneAgent({ game, id, parameters: learners(['naive', 'naive'])[0] }) as Agent),
      PPO: await afterSelfPlay(game, (one) => ppoAgent({ game, id: one }), isQuick ? 256 : 20_480, seed, met),
      HOP: await afterSelfPlay(game, (one) => planning(game, one), isQuick ? 256 : 5_120, seed, met),
      Random: await met(randomAgent({ game, id }) as Agent),
    };
  }
  return found;
}

function planning(game: Game, id: AgentId): LearningAgent {
  return hopAgent({ game, id, goals: 'none', search: { trees: 1, simulations: 12, exploration: 5, rationality: 3 } });
}

async function afterSelfPlay(
  game: Game,
  make: (id: AgentId) => LearningAgent,
  envSteps: number,
  seed: number,
  met: (focal: Agent) => Promise<Payoffs>,
): Promise<Payoffs> {
  const agents = game.agents.map(make);
  const run = selfPlay({ game, agents, envs: 16, steps: 16, seed });
  await run.train({ envSteps });
  const found = await met(agents[0]);
  run.dispose();
  return found;
}

/** Rows for a table. */
export function lolaRows(meetings: readonly LolaMeetings[]) {
  const [first] = meetings;
  return Object.entries(first ?? {}).flatMap(([game, byAgent]) =>
    Object.keys(byAgent).map((agent) => {
      const of = (who: keyof Payoffs) => bootstrap(meetings.map((one) => one[game][agent][who]));
      return { game, 'focal agent': agent, 'its payoff a round': of('focal'), "LOLA's": of('lola') };
    }),
  );
}
