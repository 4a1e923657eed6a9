import { checkExperience, checkNumber, type Experience, isLastStep } from '@coplay/core';

/**
 * Which rewards an agent learns from: its own, everyone's mean, or whatever a function makes of the experience:
 * it returns [E, T, A].
 */
export type RewardChoice = 'own' | 'prosocial' | ((experience: Experience) => Float32Array);

/** The rewards [E, T, A] that are learned from. */
export function chosenRewards(choice: RewardChoice, experience: Experience, gamma: number): Float32Array {
  if (choice === 'own') return experience.rewards;
  if (choice === 'prosocial') return prosocialRewards(experience, gamma);
  return choice(structuredClone(experience)); // what it writes there, no other learner sees
}

/**
 * Everyone's mean reward (Peysakhovich and Lerer 2018). What the others earn after an agent has left counts for it too,
 * discounted back to its last step; otherwise whoever left would not care. That stops at the end of the experience.
 *
 * @returns [E, T, A]
 */
export function prosocialRewards(experience: Experience, gamma: number): Float32Array {
  checkExperience('prosocialRewards', experience);
  checkNumber('prosocialRewards', 'gamma', gamma, { min: 0, max: 1 });
  const { envs, steps, rewards, active } = experience;
  const agents = experience.agents.length;
  const shared = new Float32Array(rewards.length);
  const later = new Float64Array(agents); // what came after the present step, for agents that have left by then
  for (let e = 0; e < envs; e++) {
    later.fill(0);
    for (let t = steps - 1; t >= 0; t--) {
      const step = e * steps + t;
      if (isLastStep(experience, step)) later.fill(0);
      const mean = meanReward(experience, step * agents);
      for (let a = 0; a < agents; a++) {
        const isActive = active[step * agents + a] === 1;
        if (isActive) shared[step * agents + a] = mean + gamma * later[a];
        later[a] = isActive ? 0 : mean + gamma * later[a];
      }
    }
  }
  return shared;
}

/** Over all agents; one that has left earns nothing. */
function meanReward({ rewards, active, agents }: Experience, start: number): number {
  let sum = 0;
  for (let row = start; row < start + agents.length; row++) if (active[row] === 1) sum += rewards[row];
  return sum / agents.length;
}
