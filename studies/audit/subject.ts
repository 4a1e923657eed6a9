import type { Agent, AgentId, Experience, Game, NamedArrays } from '@coplay/core';
import type { Switches } from '@coplay/diagnostics/ablations';
import { mlp } from '@coplay/models';
import { type Learner, type PpoAgent, type PpoLearner, ppoAgent, ppoPresets, sharedPpoAgents } from '@coplay/trainers';

/** How agents are made. */
export interface MakeAgents {
  readonly game: Game;
  /** Which modules are on; modules that aren't named are on. */
  readonly switches: Switches;
  /** One set of weights for all. */
  readonly sharedPolicy: boolean;
  /** An agent that learns ten times as slowly as the others: for sabotage. */
  readonly slowAgent?: AgentId;
}

/** The audited system: learning agents, and access to their parts. */
export interface Subject {
  /** Modules that can be switched off. */
  readonly modules: readonly string[];
  makeAgents(options: MakeAgents): readonly Agent[];
  /** Everything that the learner learns. */
  parameters(learner: Learner): Promise<NamedArrays>;
  /** Samples that an agent's buffers were given so far, by buffer. */
  pushed(learner: Learner, id: AgentId): Promise<Readonly<Record<string, number>>>;
  /** Samples that they are to be given for an experience, by buffer. */
  due(experience: Experience, seat: number): Readonly<Record<string, number>>;
}

/** The networks of {@link ppoSubject}. */
export interface PpoNetworkChoice {
  /** Units of the hidden layers of actor and critic. Default 64, 64 */
  readonly hidden?: readonly number[];
  /** As for `ppoAgent`. Small networks that make few updates are sooner done without being compiled. Default `auto` */
  readonly executor?: 'auto' | 'eager';
  /** Passes over the data in an update. Default 4 */
  readonly epochs?: number;
}

/** Independent PPO, as the library has it. */
export function ppoSubject({ hidden = [64, 64], executor = 'auto', epochs = 4 }: PpoNetworkChoice = {}): Subject {
  return {
    modules: ['advantageNormalisation', 'entropyBonus', 'gradientClipping'],
    makeAgents: (options) => makePpo(options, { hidden, executor, epochs }),
    parameters: (learner) => (learner as PpoLearner).parameters(),
    async pushed(learner, id) {
      const { buffer } = (await learner.state()) as { buffer?: { pushed?: Record<AgentId, Record<string, number>> } };
      return { 'ppo rows': buffer?.pushed?.[id]?.['real'] ?? 0 };
    },
    due: (experience, seat) => ({ 'ppo rows': activeSteps(experience, seat) }),
  };
}

function makePpo(
  { game, switches, sharedPolicy, slowAgent }: MakeAgents,
  { hidden, executor, epochs }: Required<PpoNetworkChoice>,
): PpoAgent[] {
  const ppo = {
    ...ppoPresets.stagHunt,
    epochs,
    ...(switches['advantageNormalisation'] === false && { normaliseAdvantages: false as const }),
    ...(switches['entropyBonus'] === false && { entropyWeight: 0 }),
    ...(switches['gradientClipping'] === false && { clipNorm: false as const }),
  };
  const network = mlp({ hidden });
  if (sharedPolicy) return sharedPpoAgents({ game, network, executor, ppo });
  const slow = { ...ppo, learningRate: { from: ppo.learningRate.from / 10, to: 0 } };
  return game.agents.map((id) => ppoAgent({ game, id, network, executor, ppo: id === slowAgent ? slow : ppo }));
}

function activeSteps({ active, agents }: Experience, seat: number): number {
  let count = 0;
  for (let row = seat; row < active.length; row += agents.length) count += active[row];
  return count;
}
