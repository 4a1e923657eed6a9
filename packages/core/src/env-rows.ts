import type { StepArrays } from './game';
import type { VectorEnv } from './vector-env';

/** Writes row `env` of `previousActions`: the actions of those who were playing, -1 for the others. */
export function rememberActions(
  { active, previousActions, agents }: Pick<VectorEnv, 'active' | 'previousActions' | 'agents'>,
  env: number,
  actions: Int32Array,
): void {
  for (let row = env * agents.length; row < (env + 1) * agents.length; row++) {
    previousActions[row] = active[row] === 1 ? actions[row] : -1;
  }
}

/** Whether every agent of row `env` has ended, by the rules or by the time limit. */
export function isOver({ terminated, truncated }: StepArrays, env: number, agents: number): boolean {
  for (let row = env * agents; row < (env + 1) * agents; row++) {
    if (terminated[row] === 0 && truncated[row] === 0) return false;
  }
  return true;
}
