import {
  type AgentId,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type NamedArrays,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import type { Switches } from '@coplay/diagnostics/ablations';
import type { LearnerInfluence } from '@coplay/diagnostics/audits';
import { learnersOf } from './learners';
import { type Sabotage, sabotagedOptions, sabotageLearners } from './sabotage';
import type { Subject } from './subject';

/** A trainer to be looked into. */
export interface Trainer {
  readonly subject: Subject;
  readonly game: Game;
  readonly sabotage: Sabotage;
  readonly switches: Switches;
  readonly sharedPolicy: boolean;
}

/** Little is enough: who reads a number at all is moved by it. */
const ENVS = 4;
const STEPS = 16;

/**
 * Whose parameters change when whose rewards change? One rollout; then every learner makes its first update on it, from
 * the same parameters and random numbers each time: once as it was, and once for each agent with that agent's rewards 1
 * higher.
 */
export async function influenceOf(trainer: Trainer, seed: number): Promise<Record<string, LearnerInfluence>> {
  const { game } = trainer;
  const experience = await collect(trainer, seed);
  const before = await parametersAfter(trainer, experience, seed);
  const influence: Record<string, LearnerInfluence & { movedBy: Record<AgentId, number> }> = {};
  for (const { name, owns } of before) influence[name] = { owns, movedBy: {} };
  for (const [seat, id] of game.agents.entries()) {
    const after = await parametersAfter(trainer, raised(experience, seat), seed);
    after.forEach(({ name, parameters }, i) => {
      influence[name].movedBy[id] = distance(parameters, before[i].parameters);
    });
  }
  return influence;
}

/** Fresh agents, with the fault if there is to be one. */
export function makeTrainer({ subject, game, sabotage, switches, sharedPolicy }: Trainer) {
  const agents = subject.makeAgents(sabotagedOptions(sabotage, { game, switches, sharedPolicy }));
  sabotageLearners(sabotage, game, agents);
  return agents;
}

async function initialised(trainer: Trainer, seed: number) {
  const agents = makeTrainer(trainer);
  const learners = learnersOf(agents);
  const root = createGenerator(streamSeed(seed, 'parameters'));
  for (const learner of learners) {
    await learner.initialise(root.split(trainer.game.agents.indexOf(learner.ids[0])));
  }
  return { agents, learners };
}

async function collect(trainer: Trainer, seed: number): Promise<Experience> {
  const { agents, learners } = await initialised(trainer, seed);
  const env = vectorEnv(trainer.game, { envs: ENVS, seed: streamSeed(seed, 'env') });
  const experience = await createRollout(env, agents, createGenerator(streamSeed(seed, 'agents'))).collect(STEPS);
  for (const learner of learners) learner.dispose();
  return experience;
}

async function parametersAfter(trainer: Trainer, experience: Experience, seed: number) {
  const { learners } = await initialised(trainer, seed);
  const results: { name: string; owns: readonly AgentId[]; parameters: NamedArrays }[] = [];
  for (const learner of learners) {
    await learner.update({ experience, progress: 0, generator: createGenerator(streamSeed(seed, 'learners')) });
    results.push({ name: learner.name, owns: learner.ids, parameters: await trainer.subject.parameters(learner) });
    learner.dispose();
  }
  return results;
}

/** One agent's rewards are 1 higher in every step in which it was active. */
function raised(experience: Experience, seat: number): Experience {
  const { active, agents } = experience;
  const rewards = experience.rewards.map((reward, row) => {
    return row % agents.length === seat && active[row] === 1 ? reward + 1 : reward;
  });
  return { ...experience, rewards };
}

/** The greatest difference of any number. */
function distance(first: NamedArrays, second: NamedArrays): number {
  let greatest = 0;
  for (const [name, { data }] of Object.entries(first)) {
    for (let i = 0; i < data.length; i++) greatest = Math.max(greatest, Math.abs(data[i] - second[name].data[i]));
  }
  return greatest;
}
