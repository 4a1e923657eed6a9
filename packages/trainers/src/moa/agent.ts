import { type ActionArray, type ActionSpaces, type Agent, type AgentId, type NamedArrays, ndarray } from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import { checkCount, checkObservationArrays, checkRecord, checkTypedArray } from '@coplay/core/checks';
import { prefixed } from '@coplay/models/layers';
import type { ActionDistribution } from '../training/action-distribution';
import type { GoalChoice, MoaAgentState, MoaLearner, MoaView } from './contract';
import type { MoaSetup } from './options';

/** Plays a co-player's seat by the model of it. */
export function modelledAgent(
  learner: MoaLearner<ActionSpaces>,
  coPlayer: AgentId,
  distribution: ActionDistribution,
  goalsOf: GoalChoice<ActionSpaces>,
): Agent<MoaAgentState, ActionSpaces> {
  const { stateSize } = learner;
  return {
    id: coPlayer,
    name: 'MOA',
    initialState: (rows) => ({ goals: new Int32Array(rows).fill(-1), memory: new Float32Array(rows * stateSize) }),
    async act(input, state, generator) {
      const goals = state.goals.slice();
      const memory = state.memory.slice();
      for (let row = 0; row < input.rows; row++) {
        if (input.isFirst[row] !== 1) continue;
        goals[row] = goalsOf(row, input, generator);
        memory.fill(0, row * stateSize, (row + 1) * stateSize);
      }
      const { policy, state: next } = await learner.step(coPlayer, { ...input, state: memory }, goals);
      const { actions } = distribution.draw(policy, input.rows, generator);
      return { actions, state: { goals, memory: next } };
    },
  };
}

/** Refuses a view, or goals, of another form than the models read. */
export function checkView(
  where: string,
  setup: MoaSetup,
  view: MoaView<ActionSpaces>,
  goals: Int32Array | undefined,
): void {
  const { net, options, game } = setup;
  checkRecord(where, 'view', view);
  const { rows, observations, masks, previousActions, state } = view;
  checkCount(where, 'view.rows', rows);
  checkObservationArrays(where, 'view.observations', game, observations, rows);
  checkTypedArray(where, 'view.masks', masks, 'uint8', rows * net.actions);
  if (previousActions !== undefined || options.previousActions) {
    const { dtype, width } = actionLayout(game);
    checkTypedArray(where, 'view.previousActions', previousActions, dtype, rows * game.agents.length * width);
  }
  if (state !== undefined) checkTypedArray(where, 'view.state', state, 'float32', rows * net.stateSize);
  if (net.goals === 0 && goals === undefined) return;
  checkTypedArray(where, 'goals', goals, 'int32', rows);
}

/**
 * The inputs of a step of the models.
 *
 * @param seat    the co-player's
 * @param memory  [B, stateSize]
 */
export function viewInputs(
  { net, encoder, game }: MoaSetup,
  seat: number,
  { rows, observations, masks, previousActions }: MoaView<ActionSpaces>,
  goals: Int32Array | undefined,
  memory: Float32Array,
): NamedArrays {
  const everyone = previousActions ?? noActions(game, rows);
  const source = { rows, observations, masks, previousActions: everyone, extras: {} };
  return {
    ...prefixed('in', encoder.encode({ ...source, seat, offset: 0, stride: 1 })),
    ...(net.actions > 0 && { mask: ndarray(masks, [rows, net.actions]) }),
    ...(net.goals > 0 && { goals: ndarray(goals as Int32Array) }),
    ...(net.stateSize > 0 && { state: ndarray(memory, [rows, net.stateSize]) }),
  };
}

/** [rows, A, W] that say "none". */
function noActions(game: MoaSetup['game'], rows: number): ActionArray {
  const { dtype, width } = actionLayout(game);
  const size = rows * game.agents.length * width;
  return dtype === 'int32' ? new Int32Array(size).fill(-1) : new Float32Array(size).fill(Number.NaN);
}
