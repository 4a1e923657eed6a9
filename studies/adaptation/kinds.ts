import type { Agent, AgentId, Game } from '@coplay/core';
import {
  type HopAgent,
  type HopOptions,
  type HopSearchOptions,
  hopAgent,
  type LearningAgent,
  type PpoNetworkOptions,
  planner,
  ppoAgent,
  ppoPresets,
  socialInfluenceAgent,
} from '@coplay/trainers';

/** A way of learning and playing. */
export interface Kind {
  readonly label: string;
  /** Environments and steps of a rollout. */
  readonly envs: number;
  readonly steps: number;
  /** Which option of the study says for how long it's trained. */
  readonly budget: 'steps' | 'ppo-steps';
  make(game: Game, id: AgentId): LearningAgent;
  /** The trained agent as it plays afterwards, with beliefs of its own. */
  player(agent: LearningAgent, search: HopSearchOptions): Agent;
}

/** The search in training, as in the study `hop`: few simulations, so that actions must be tried before values decide. */
const SEARCH: HopSearchOptions = { trees: 1, simulations: 20, exploration: 20, rationality: 15 };

/** HOP, whole or with a part of its models of others switched off. */
function hop(label: string, off: Pick<HopOptions, 'interOM' | 'intraOM' | 'goals'> = {}): Kind {
  return {
    ...{ label, envs: 128, steps: 8, budget: 'steps' },
    make: (game, id) => hopAgent({ game, id, search: SEARCH, hop: { minibatches: 32, learningRate: 1e-3 }, ...off }),
    player: (agent, search) => planner(agent as HopAgent, { exploration: 10, rationality: 15, ...search }),
  };
}

/** Without planning: plays as it was trained. */
function modelFree(label: string, make: Kind['make']): Kind {
  return { label, envs: 32, steps: 32, budget: 'ppo-steps', make, player: (agent) => agent };
}

const ppo = ppoPresets.stagHunt;
const ppoWith = (label: string, reward: PpoNetworkOptions['reward'] & {}) =>
  modelFree(label, (game, id) => ppoAgent({ game, id, ppo, reward }));

/** Who is compared, by name. */
export const KINDS = {
  hop: hop('HOP'),
  noInter: hop('HOP without inter-OM', { interOM: false }),
  noIntra: hop('HOP without intra-OM', { intraOM: false }),
  direct: hop('direct-OM', { goals: 'none' }),
  ppo: ppoWith('PPO', 'own'),
  prosocial: ppoWith('prosocial PPO', 'prosocial'),
  influence: modelFree('social influence', (game, id) => {
    // Models that learned from more rows would take most of the time.
    return socialInfluenceAgent({ game, id, ppo, influenceWeight: 0.05, moa: { capacity: 1024 } });
  }),
} as const satisfies Readonly<Record<string, Kind>>;

/** A name of {@link KINDS}. */
export type KindName = keyof typeof KINDS;
