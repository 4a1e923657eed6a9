import {
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type Experience,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  type SavedState,
} from '@coplay/core';
import { allocateObservations, type Cuts, copyObservation } from '@coplay/core/arrays';
import { checkAct, checkAgentStep, checkCount, checkTypedArray, sharedAmongCopies } from '@coplay/core/checks';
import { putSeat, takeRows } from '@coplay/core/rows';
import type { OmgLearner, OwnView } from '../omg';
import { ppoInsight } from '../ppo';
import type { LearningAgent } from '../training';
import { chooseActions } from '../training/choose-actions';
import { GoalPriors } from './goal-priors';
import { GOAL_PRIORS, MEMORY, SUBGOALS } from './options';
import type { HopPlusPlayers } from './setup';

/** The policy's answer to an input, before an action is drawn. */
interface PolicyDecision {
  /** [B, K] */
  readonly logProbs: Float32Array;
  /** The inference's memory for the next step. */
  readonly state: Float32Array;
  /** Inferred subgoals, and the memory of the inference before the step. */
  readonly extras: NamedArrays;
}

/**
 * Acts by the policy, which reads the inferred subgoals of all co-players. The state is the inference's memory.
 *
 * @param priorsOf  for a policy that also reads priors over the co-players' goals: [B, size] of an input
 */
export class HopPlusPolicyAgent<Players extends HopPlusPlayers> implements LearningAgent<Float32Array> {
  readonly name = 'HOP+';
  private readonly seat: number;

  constructor(
    readonly id: AgentId,
    readonly learner: Players,
    private readonly priorsOf?: (input: AgentInput) => Float32Array,
  ) {
    this.seat = learner.setup.game.agents.indexOf(id);
  }

  private get stateSize(): number {
    return this.learner.coPlayerModelsOf(this.seat).omg?.stateSize ?? 0;
  }

  initialState(rows: number): Float32Array {
    checkCount(`HOP+ (${this.id}).initialState`, 'rows', rows);
    return new Float32Array(rows * this.stateSize);
  }

  async act(input: AgentInput, state: Float32Array, generator: Generator): Promise<AgentOutput<Float32Array>> {
    checkAct(`HOP+ (${this.id}).act`, this.learner.setup.game, input, generator);
    const decided = await this.decide(input, state);
    const chosen = chooseActions(decided.logProbs, input.rows, this.learner.ppo.setup.net.actions, generator);
    const extras = { logProbs: ndarray(chosen.logProbs), ...decided.extras };
    return { actions: chosen.actions, state: decided.state, extras };
  }

  /** The policy of each row, for an input that was checked. */
  async decide(input: AgentInput, state: Float32Array): Promise<PolicyDecision> {
    const { ppo } = this.learner;
    const { omg } = this.learner.coPlayerModelsOf(this.seat);
    checkTypedArray(`HOP+ (${this.id}).act`, 'state', state, 'float32', input.rows * this.stateSize);
    const inferred = omg && (await omg.infer(input, state));
    const priors = this.priorsOf?.(input);
    const extras = {
      ...(inferred && { [SUBGOALS]: ndarray(inferred.subgoals, [input.rows, omg.subgoalSize]) }),
      ...(priors && { [GOAL_PRIORS]: ndarray(priors, [input.rows, priors.length / input.rows]) }),
    };
    const { policy: logProbs } = await ppo.policy.act(input, this.seat, NO_MEMORY, extras);
    return {
      logProbs,
      state: inferred?.state ?? state,
      extras: {
        ...extras,
        ...(inferred && { [MEMORY]: ndarray(enteredMemory(state, input, omg.stateSize), [input.rows, omg.stateSize]) }),
      },
    };
  }

  insight(input: AgentInput, _: Float32Array, { extras = {} }: AgentOutput<Float32Array>): Promise<NamedArrays> {
    return ppoInsight(this.learner.ppo, this.id, input, NO_MEMORY, readByPolicy(extras));
  }
}

sharedAmongCopies(HopPlusPolicyAgent, '@coplay/trainers/HopPlusPolicyAgent@0.1');

/** An agent whose policy reads priors, with the memory that they come from. */
export class PriorReadingAgent<Players extends HopPlusPlayers> extends HopPlusPolicyAgent<Players> {
  private readonly priors: GoalPriors;

  constructor(id: AgentId, learner: Players) {
    const { game, goalDiscount } = learner.setup;
    const priors = new GoalPriors(game, id, goalDiscount);
    super(id, learner, (input) => priors.read(input));
    this.priors = priors;
  }

  observe(step: AgentStep): void {
    checkAgentStep(`HOP+ (${this.id}).observe`, this.learner.setup.game, step);
    this.priors.observe(step);
  }

  save(): SavedState {
    return this.priors.state();
  }

  restore(saved: SavedState): void {
    this.priors.restore(saved);
  }
}

sharedAmongCopies(PriorReadingAgent, '@coplay/trainers/PriorReadingAgent@0.1');

/** The extras that the policy reads: subgoals and priors, where it reads them. */
export function readByPolicy(extras: NamedArrays): NamedArrays {
  // Without co-players there are no numbers, and the policy has no such input.
  const isKnown = (name: string) => (extras[name]?.shape.at(-1) ?? 0) > 0;
  return Object.fromEntries([SUBGOALS, GOAL_PRIORS].filter(isKnown).map((name) => [name, extras[name]]));
}

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

/** Rows of arrays [B, A, ...] as one seat sees them. */
function viewAt(
  experience: Experience,
  from: Pick<Experience | Cuts, 'observations' | 'previousActions'>,
  seat: number,
  rows: ArrayLike<number>,
  isFirst: Uint8Array,
): OwnView {
  const agents = experience.agents.length;
  const observations = allocateObservations(experience.observation, rows.length);
  for (let i = 0; i < rows.length; i++) {
    copyObservation(experience.observation, from.observations, rows[i] * agents + seat, observations, i);
  }
  const previousActions = takeRows(from.previousActions, rows, agents);
  return { rows: rows.length, observations, previousActions, isFirst };
}

/**
 * The subgoals that one seat would infer from its observations at the cuts of an experience.
 *
 * @returns [N, size] in the order of the cuts
 */
async function subgoalsAtCuts(omg: OmgLearner, experience: Experience, seat: number): Promise<Float32Array> {
  const { cuts, steps, agents, extras, isFirst } = experience;
  const rows = Int32Array.from(cuts.env, (env, n) => env * steps + cuts.step[n]);
  if (rows.length === 0) return new Float32Array(0);
  const entered = extraAt(extras[MEMORY], agents.length, seat, rows).map((x) => (Number.isNaN(x) ? 0 : x));
  const before = viewAt(experience, experience, seat, rows, takeRows(isFirst, rows, 1));
  const { state } = await omg.infer(before, entered);
  const places = Int32Array.from(cuts.env.keys());
  const after = viewAt(experience, cuts, seat, places, new Uint8Array(rows.length));
  return (await omg.infer(after, state)).subgoals;
}

/** The same experience with the subgoals at its cuts, for the seats that infer any: critics read them there. */
export async function withCutSubgoals(
  experience: Experience,
  seats: readonly number[],
  omgOf: (seat: number) => OmgLearner,
): Promise<Experience> {
  const agents = experience.agents.length;
  const count = experience.cuts.env.length;
  const size = omgOf(seats[0]).subgoalSize;
  const data = new Float32Array(count * agents * size);
  await Promise.all(
    seats.map(async (seat) => {
      putSeat(data, seat, agents, await subgoalsAtCuts(omgOf(seat), experience, seat), size);
    }),
  );
  const extras: NamedArrays = { ...experience.cuts.extras, [SUBGOALS]: { data, shape: [count, agents, size] } };
  return { ...experience, cuts: { ...experience.cuts, extras } };
}

/** The same experience with other subgoals [E, T, size] for one seat. */
export function withSubgoals(experience: Experience, seat: number, subgoals: Float32Array): Experience {
  const old = experience.extras[SUBGOALS] as NDArray<Float32Array>;
  const data = old.data.slice();
  putSeat(data, seat, experience.agents.length, subgoals, old.shape[3]);
  return { ...experience, extras: { ...experience.extras, [SUBGOALS]: { data, shape: old.shape } } };
}

/** One seat's numbers [B, size] at rows e T + t of an extra [E, T, A, size]. */
export function extraAt({ data, shape }: NDArray, agents: number, seat: number, rows: ArrayLike<number>): Float32Array {
  const places = Int32Array.from(rows, (row) => row * agents + seat);
  return takeRows(data as Float32Array, places, shape[3]);
}
