import { type Agent, type AgentId, fail, type Game, show } from '@coplay/core';
import { checkAct, checkCount, checkRecord } from '@coplay/core/checks';
import { checkLogits } from './check-logits';
import { checkMatrixGame, MEMORIES } from './iterated-game';
import { sigmoid } from './iterated-gradients';

/** Options of {@link memoryOneAgent}. */
export interface MemoryOneOptions {
  /** A matrix game of two players with two actions each. */
  readonly game: Game;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /**
   * [5] logits of action 0: after 2 own + other of the last round, and at the start; as in `lola(...).parameters`. Read
   * in every step
   */
  readonly parameters: Float64Array;
}

/**
 * Plays a matrix game by the last round alone: what {@link lola} learns, or tit-for-tat (logits 9, -9, 9, -9, 9).
 *
 * @throws CoplayError for games of another form, an id that the game doesn't have, and parameters of another number or
 *         NaN
 */
export function memoryOneAgent(options: MemoryOneOptions): Agent<null> {
  checkRecord('memoryOneAgent', 'options', options);
  const { game, id, parameters } = options;
  checkMatrixGame('memoryOneAgent', game);
  checkLogits('memoryOneAgent: option parameters', parameters, MEMORIES);
  if (!game.agents.includes(id)) {
    fail('memoryOneAgent: option id', game.agents.join(' or '), show(id), 'Take it from game.agents.');
  }
  return {
    id,
    name: 'memory-one',
    get options() {
      return { parameters: [...parameters] }; // as they are now: a learner may change them
    },
    initialState: (rows) => {
      checkCount(`memory-one (${id}).initialState`, 'rows', rows);
      return null;
    },
    act(input, state, generator) {
      checkAct(`memory-one (${id}).act`, game, input, generator);
      const joint = input.observations['joint'];
      const actions = new Int32Array(input.rows);
      for (let row = 0; row < input.rows; row++) {
        const last = joint.subarray(row * MEMORIES, (row + 1) * MEMORIES).indexOf(1);
        actions[row] = generator.uniform() < sigmoid(parameters[last]) ? 0 : 1;
      }
      return { actions, state };
    },
  };
}
