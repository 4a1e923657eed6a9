import { createGenerator, createRollout, type Experience, type Game, streamSeed, vectorEnv } from '@coplay/core';
import { isLastStep } from '@coplay/core/arrays';
import { mixed } from '@coplay/envs';

/** Play of four Mixed(0.5), and what came of it. */
export interface Play {
  readonly experience: Experience;
  /** [E, T, A] the goal that each agent reached in the end of its episode; -1 for none, and after it left */
  readonly goals: Int32Array;
  /** [E, T, A] R_t of each agent */
  readonly returns: Float32Array;
}

/** Streams of rule-based play: each agent hunts stags in half of its episodes, hares in the others. */
export async function play(game: Game, seed: number, envs: number, steps: number): Promise<Play> {
  const env = vectorEnv(game, { envs, seed: streamSeed(seed, 'env') });
  const agents = game.agents.map((id) => mixed({ game, id, p: 0.5 }));
  const experience = await createRollout(env, agents, createGenerator(streamSeed(seed, 'agents'))).collect(steps);
  return { experience, goals: goalsInHindsight(game, experience), returns: returnsOf(experience, 0.95) };
}

/** Walks each stream backwards: a step's goal is that of the step after it, in the same episode. */
function goalsInHindsight(game: Game, experience: Experience): Int32Array {
  const { envs, steps, agents, observations, active, actions, terminated } = experience;
  const count = agents.length;
  const goals = new Int32Array(envs * steps * count).fill(-1);
  const none = new Int32Array(0);
  for (let row = envs * steps - 1; row >= 0; row--) {
    const isLast = isLastStep(experience, row);
    for (let seat = row * count; seat < (row + 1) * count; seat++) {
      if (active[seat] === 0) continue;
      const [action, left] = [actions[seat], terminated[seat] === 1];
      const step = { agent: seat % count, action, left, observations, row: seat, before: none, after: none };
      const reached = game.goals?.reached(step) ?? -1;
      const later = isLast ? (game.goals?.noGoal ?? -1) : goals[seat + count];
      goals[seat] = reached >= 0 ? reached : later;
    }
  }
  return goals;
}

/** Discounted sums of rewards to the end of the episode. */
function returnsOf(experience: Experience, gamma: number): Float32Array {
  const { envs, steps, agents, rewards, active } = experience;
  const count = agents.length;
  const returns = new Float32Array(rewards.length);
  for (let row = envs * steps - 1; row >= 0; row--) {
    const isLast = isLastStep(experience, row);
    for (let seat = row * count; seat < (row + 1) * count; seat++) {
      if (active[seat] === 1) returns[seat] = rewards[seat] + (isLast ? 0 : gamma * returns[seat + count]);
    }
  }
  return returns;
}

/** [E T] numbers of the episodes. */
export function episodeNumbers({ envs, steps, isFirst }: Experience): Int32Array {
  let episode = 0;
  return Int32Array.from({ length: envs * steps }, (_, row) => {
    if (isFirst[row] === 1 || row % steps === 0) episode++;
    return episode;
  });
}
