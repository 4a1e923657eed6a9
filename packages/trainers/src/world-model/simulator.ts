import type { NamedArrays, Simulator } from '@coplay/core';
import type { WorldModel } from '@coplay/models';
import { byRandomMembers } from './imagine';
import type { Machine } from './machine';

/** Options of {@link WorldModelLearner.simulator}. */
export interface SimulatorOptions {
  /**
   * Whether outcomes are drawn from the model's prediction, or are the most probable ones: for games without chance.
   * Default true
   */
  readonly sample?: boolean;
}

/** A world model as a simulator. It always uses the parameters of the moment. */
export function modelSimulator(
  model: WorldModel,
  members: number,
  machine: () => Machine,
  { sample = true }: SimulatorOptions,
): Simulator {
  const { game } = model;
  const agents = game.agents.length;
  return {
    game,
    async step(states, actions, generator, result) {
      const rows = model.encode(states, actions);
      const imagined = await byRandomMembers(machine(), members, rows, generator);
      const happened: NamedArrays = model.decode(imagined, rows, sample ? generator : undefined);
      const rewards = happened['rewards'].data;
      const terminated = happened['terminated'].data;
      for (let row = 0; row * game.stateSize < states.length; row++) {
        const offset = row * game.stateSize;
        model.write(happened, row, states, offset);
        const isOver = game.elapsed(states, offset) >= game.maxSteps;
        for (let i = row * agents; i < (row + 1) * agents; i++) {
          result.rewards[i] = rewards[i];
          result.terminated[i] = terminated[i];
          result.truncated[i] = isOver && terminated[i] === 0 ? 1 : 0;
        }
      }
    },
  };
}
