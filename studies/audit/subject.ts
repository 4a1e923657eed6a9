import type { Agent, AgentId, Experience, Game, NamedArrays } from '@coplay/core';
import type { Switches } from '@coplay/diagnostics/ablations';
import { mlp } from '@coplay/models';
import {
  type HopPlusAgent,
  type HopPlusLearner,
  type HopPlusModules,
  hopPlusAgent,
  type Learner,
  ppoPresets,
  sharedHopPlusAgents,
} from '@coplay/trainers';

/** How agents are made. */
export interface MakeAgents {
  readonly game: Game;
  /** Which modules are on; modules that aren't named are on. */
  readonly switches: Switches;
  /** One policy and one world model for all. */
  readonly sharedPolicy: boolean;
  /** An agent that learns ten times as slowly as the others: for sabotage. */
  readonly slowAgent?: AgentId;
}

/** The audited system: learning agents, and access to their parts. */
export interface Subject {
  /** Settings with modules off, by their names, in the order in which they are tried. */
  readonly without: Readonly<Record<string, Switches>>;
  makeAgents(options: MakeAgents): readonly Agent[];
  /** The parameters that only an agent's own trajectory may move in its first update. */
  parameters(learner: Learner): Promise<NamedArrays>;
  /** Samples that an agent's buffers were given so far, by buffer. */
  pushed(learner: Learner, id: AgentId): Promise<Readonly<Record<string, number>>>;
  /** Samples that they are to be given for an experience, by buffer. */
  due(experience: Experience, seat: number): Readonly<Record<string, number>>;
}

/** The networks of {@link hopPlusSubject}. */
export interface NetworkChoice {
  /** Units of the hidden layers of actor and critic. Default 64, 64 */
  readonly hidden?: readonly number[];
  /** As for `hopPlusAgent`. Small networks that make few updates are faster without compilation. Default `auto` */
  readonly executor?: 'auto' | 'eager';
  /** Passes over the data in an update of the policy. Default 4 */
  readonly epochs?: number;
}

/** The names of HOP+'s modules: what is learned about the world, and what about co-players. */
const WORLD = 'world model and imagination';
const CO_PLAYERS = 'OMG and MOA';

/** All of {@link hopPlusSubject}'s modules off. */
export const PPO_ALONE: Switches = { [WORLD]: false, [CO_PLAYERS]: false };

/**
 * HOP+ without tree search. Imagination begins after the first update, with models of any accuracy: it has to matter
 * in short trainings.
 */
export function hopPlusSubject({ hidden = [64, 64], executor = 'auto', epochs = 4 }: NetworkChoice = {}): Subject {
  return {
    without: { [WORLD]: { [WORLD]: false }, [CO_PLAYERS]: { [CO_PLAYERS]: false }, 'all but PPO': PPO_ALONE },
    makeAgents: (options) => makeAgents(options, { hidden, executor, epochs }),
    // The world model learns the rewards of all agents, and passes them on to the policy in imagination. That begins
    // after the first update.
    parameters: (learner) => (learner as HopPlusLearner).ppo.parameters(),
    async pushed(learner, id) {
      const { ppo } = (await learner.state()) as {
        ppo: { buffer?: { pushed?: Record<AgentId, Record<string, number>> } };
      };
      return { 'ppo rows': ppo.buffer?.pushed?.[id]?.['real'] ?? 0 };
    },
    due: (experience, seat) => ({ 'ppo rows': activeSteps(experience, seat) }),
  };
}

function modulesOf(switches: Switches): HopPlusModules {
  return {
    ...(switches[WORLD] === false
      ? { worldModel: false, imagined: false }
      : { imagined: { startUpdates: 1, minAccuracy: 0, moaAccuracy: 0.1 } }),
    // Models that waited for new rows would be updated more often for agents whose co-players stay for longer.
    ...(switches[CO_PLAYERS] === false ? { omg: false, moa: false } : { moa: { minRows: 1 } }),
  };
}

function makeAgents(
  { game, switches, sharedPolicy, slowAgent }: MakeAgents,
  { hidden, executor, epochs }: Required<NetworkChoice>,
): HopPlusAgent[] {
  const ppo = { ...ppoPresets.stagHunt, epochs };
  const options = { game, network: mlp({ hidden }), executor, ...modulesOf(switches) };
  if (sharedPolicy) return sharedHopPlusAgents({ ...options, ppo });
  const slow = { ...ppo, learningRate: { from: ppo.learningRate.from / 10, to: 0 } };
  return game.agents.map((id) => hopPlusAgent({ ...options, id, ppo: id === slowAgent ? slow : ppo }));
}

function activeSteps({ active, agents }: Experience, seat: number): number {
  let count = 0;
  for (let row = seat; row < active.length; row += agents.length) count += active[row];
  return count;
}
