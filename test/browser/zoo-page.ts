/** The script of a page that plays with agents of the zoo. */
import { evaluate } from '@coplay/core';
import { zoo } from '@coplay/zoo';

/** The returns [episodes A] of agents by their name. */
async function play(name: string, episodes: number): Promise<number[]> {
  const { game, agents, dispose } = await zoo(name);
  const { returns } = await evaluate(game, agents, { episodes, envs: 8, seed: 3 });
  dispose();
  return [...returns];
}

Object.assign(globalThis, { play });
