import {
  type AgentId,
  type AgentInput,
  type AgentOutput,
  checkCount,
  checkTypedArray,
  type Generator,
  type NamedArrays,
  ndarray,
  sharedAmongCopies,
} from '@coplay/core';
import { ppoInsight } from '../ppo';
import type { LearningAgent } from '../training';
import { checkAct } from '../training/check-calls';
import { chooseActions } from '../training/choose-actions';
import type { HopPlusPlayers } from './setup';
import { MEMORY, SUBGOALS } from './subgoals';

/**
 * Acts by the policy, which sees the subgoals that are inferred of every co-player. Its state is the inference's
 * memory.
 */
export class MindedAgent<Players extends HopPlusPlayers> implements LearningAgent<Float32Array> {
  readonly name = 'HOP+';
  private readonly seat: number;

  constructor(
    readonly id: AgentId,
    readonly learner: Players,
  ) {
    this.seat = learner.setup.game.agents.indexOf(id);
  }

  private get stateSize(): number {
    return this.learner.mindOf(this.seat).omg?.stateSize ?? 0;
  }

  initialState(rows: number): Float32Array {
    checkCount(`HOP+ (${this.id}).initialState`, 'rows', rows);
    return new Float32Array(rows * this.stateSize);
  }

  async act(input: AgentInput, state: Float32Array, generator: Generator): Promise<AgentOutput<Float32Array>> {
    const { ppo } = this.learner;
    const { omg } = this.learner.mindOf(this.seat);
    const where = `HOP+ (${this.id}).act`;
    checkAct(where, this.learner.setup.game, input, generator);
    checkTypedArray(where, 'state', state, 'float32', input.rows * this.stateSize);
    const inferred = omg && (await omg.infer(input, state));
    const extras = inferred ? { [SUBGOALS]: ndarray(inferred.subgoals, [input.rows, omg.subgoalSize]) } : {};
    const { logProbs } = await ppo.policy.act(input, this.seat, NO_MEMORY, extras);
    const chosen = chooseActions(logProbs, input.rows, ppo.setup.net.actions, generator);
    return {
      actions: chosen.actions,
      state: inferred?.state ?? state,
      extras: {
        logProbs: ndarray(chosen.logProbs),
        ...extras,
        ...(inferred && { [MEMORY]: ndarray(enteredMemory(state, input, omg.stateSize), [input.rows, omg.stateSize]) }),
      },
    };
  }

  insight(input: AgentInput, _: Float32Array, { extras = {} }: AgentOutput<Float32Array>): Promise<NamedArrays> {
    const seen: NamedArrays = extras[SUBGOALS] ? { [SUBGOALS]: extras[SUBGOALS] } : {};
    return ppoInsight(this.learner.ppo, this.id, input, NO_MEMORY, seen);
  }
}

sharedAmongCopies(MindedAgent, '@coplay/trainers/MindedAgent@0.1');

/** The policy itself is feedforward. */
const NO_MEMORY = new Float32Array(0);

/** A copy of the memory, zero in the rows where an episode begins. */
function enteredMemory(state: Float32Array, input: AgentInput, size: number): Float32Array {
  const entered = state.slice();
  for (let row = 0; row < input.rows; row++) {
    if (input.isFirst[row] === 1) entered.fill(0, row * size, (row + 1) * size);
  }
  return entered;
}
