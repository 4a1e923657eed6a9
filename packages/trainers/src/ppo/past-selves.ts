import {
  type ActionSpaces,
  type ActionsOf,
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  checkOptions,
  createGenerator,
  fail,
  type Generator,
  type NamedArrays,
  type Saved,
  type SavedState,
  show,
} from '@coplay/core';
import { copyRow } from '@coplay/core/arrays';
import { checkAct, checkArgument, checkCount, checkRecord, checkTypedArray, namedArrays } from '@coplay/core/checks';
import { type Compiled, compile, type Variables, variables } from '@coplay/tensor';
import { z } from 'zod';
import { checkSavedArrays } from '../training/saved-arrays';
import { createPolicy, type Policy } from './actor-critic';
import type { PpoAgent } from './agent';
import { actForward } from './algorithm';

/** Options of {@link pastSelves}. */
export interface PastSelvesOptions<Spaces extends ActionSpaces = number> {
  /** The seat to play in. */
  readonly id: AgentId;
  /** Whose past selves play there. */
  readonly of: PpoAgent<Spaces>;
  /** Snapshots kept; at least 1; the oldest goes first. Default 5 */
  readonly size?: number;
  /** Updates of the learner between two snapshots; at least 1. Default 20 */
  readonly every?: number;
  /**
   * Probability that an episode is played by the present self, in [0, 1]; else by a snapshot, uniformly. Default 0.2
   */
  readonly latest?: number;
}

const schema = z.strictObject({
  id: z.string(),
  of: z.custom<PpoAgent<ActionSpaces>>((value) => typeof value === 'object' && value !== null && 'learner' in value, {
    error: 'an agent of ppoAgent or sharedPpoAgents',
  }),
  size: z.int().min(1).default(5),
  every: z.int().min(1).default(20),
  latest: z.number().min(0).max(1).default(0.2),
});

const savedSchema = z.looseObject({
  taken: z.int().min(0),
  snapshots: z.array(z.looseObject({ serial: z.int().min(0), params: namedArrays })),
});

/** A frozen self. */
interface Snapshot {
  /** Which one it is, counted from the first ever taken. */
  readonly serial: number;
  readonly arrays: NamedArrays;
  readonly params: Variables;
  readonly policy: Policy;
  readonly run: Compiled;
}

/** The agent's state in an episode: the policy that plays each row, and that policy's recurrent state. */
interface PoolState extends SavedState {
  /** [B] serial of the snapshot; PRESENT for the present self */
  readonly players: Int32Array;
  /** [B, stateSize] */
  readonly memory: Float32Array;
}

const PRESENT = -1;

/**
 * A co-player that's an earlier version of a learning agent (Bansal et al. 2018): who plays is drawn anew for every
 * episode in every environment. It doesn't learn; its snapshots are part of the run's checkpoints.
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function pastSelves<Spaces extends ActionSpaces>(
  options: PastSelvesOptions<Spaces>,
): Agent<PoolState, Spaces> & { dispose(): void } {
  const { id, of, size, every, latest } = checkOptions('pastSelves', schema, options);
  const { game } = of.learner.setup;
  if (!game.agents.includes(id)) {
    fail(
      'pastSelves: option id',
      `an id of ${game.name}: ${game.agents.join(', ')}`,
      show(id),
      'Take it from game.agents.',
    );
  }
  return new Pool(id, of, { size, every, latest });
}

class Pool<Spaces extends ActionSpaces> implements Agent<PoolState, Spaces> {
  readonly name = 'past selves';
  private readonly seat: number;
  private snapshots: Snapshot[] = [];
  private taken = 0;

  constructor(
    readonly id: AgentId,
    private readonly of: PpoAgent<ActionSpaces>,
    private readonly rule: { readonly size: number; readonly every: number; readonly latest: number },
  ) {
    this.seat = of.learner.setup.game.agents.indexOf(id);
  }

  initialState(rows: number): PoolState {
    const { stateSize } = this.of.learner.setup.net;
    checkCount(`past selves (${this.id}).initialState`, 'rows', rows);
    return { players: new Int32Array(rows).fill(PRESENT), memory: new Float32Array(rows * stateSize) };
  }

  async act(
    input: AgentInput<Spaces>,
    state: PoolState,
    generator: Generator,
  ): Promise<AgentOutput<PoolState, Spaces>> {
    this.checkCall(input, state, generator);
    await this.takeSnapshot();
    const players = this.draw(input, state.players, generator);
    const { net, distribution } = this.of.learner.setup;
    const { policySize, stateSize } = net;
    const policy = new Float32Array(input.rows * policySize);
    const memory = new Float32Array(input.rows * stateSize);
    for (const player of new Set(players)) {
      const answer = await this.policyOf(player).act(input, this.seat, state.memory);
      for (let row = 0; row < input.rows; row++) {
        if (players[row] !== player) continue;
        copyRow(answer.policy, row, policy, row, policySize);
        copyRow(answer.next, row, memory, row, stateSize);
      }
    }
    const { actions } = distribution.draw(policy, input.rows, generator);
    return { actions: actions as ActionsOf<Spaces>, state: { players, memory } };
  }

  private checkCall(input: AgentInput<ActionSpaces>, state: PoolState, generator: Generator): void {
    const { game, net } = this.of.learner.setup;
    const where = `past selves (${this.id}).act`;
    checkAct(where, game, input, generator, this.seat);
    checkRecord(where, 'state', state);
    checkTypedArray(where, 'state.players', state.players, 'int32', input.rows);
    checkTypedArray(where, 'state.memory', state.memory, 'float32', input.rows * net.stateSize);
  }

  save(): SavedState {
    const snapshots = this.snapshots.map(({ serial, arrays }) => ({ serial, params: arrays as unknown as Saved }));
    return { taken: this.taken, snapshots };
  }

  restore(saved: SavedState): void {
    const where = `pastSelves (${this.id}): restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const snapshots = saved['snapshots'] as unknown as { serial: number; params: NamedArrays }[];
    this.checkSerials(where, saved['taken'] as number, snapshots);
    const expected = this.of.learner.setup.net.init(createGenerator(0));
    snapshots.forEach(({ params }, i) => {
      checkSavedArrays(where, `saved.snapshots[${i}].params`, expected, params);
    });
    this.dispose(); // only now that all of it fits
    this.taken = saved['taken'] as number;
    this.snapshots = snapshots.map(({ serial, params }) => this.freeze(serial, params));
  }

  /**
   * Refuses snapshots that are none of those taken, or that are out of order. Once some were taken, one at least is
   * held.
   */
  private checkSerials(where: string, taken: number, snapshots: readonly { readonly serial: number }[]): void {
    const serials = snapshots.map(({ serial }) => serial);
    const isRising = serials.every((serial, i) => serial < taken && (i === 0 || serial > serials[i - 1]));
    if (isRising && (taken === 0 || serials.length > 0)) return;
    const expected = `rising serials below ${taken}${taken > 0 ? ', one at least' : ''}`;
    fail(`${where}: saved.snapshots`, expected, show(serials), 'Give what save() returned.');
  }

  dispose(): void {
    for (const { params, run } of this.snapshots) {
      run.dispose();
      params.dispose();
    }
    this.snapshots = [];
  }

  /** Takes the snapshots that are due: one before the first update, then one every so many. */
  private async takeSnapshot(): Promise<void> {
    const { learner } = this.of;
    if (learner.updates < this.taken * this.rule.every) return;
    const arrays = await learner.parameters();
    this.snapshots.push(this.freeze(this.taken, arrays));
    this.taken = Math.floor(learner.updates / this.rule.every) + 1;
    if (this.snapshots.length > this.rule.size) {
      const [oldest] = this.snapshots.splice(0, 1);
      oldest.run.dispose();
      oldest.params.dispose();
    }
  }

  private freeze(serial: number, arrays: NamedArrays): Snapshot {
    const { net, executor } = this.of.learner.setup;
    const params = variables(arrays);
    const run = compile(actForward(net), { name: 'ppo/act', state: { params }, executor });
    return { serial, arrays, params, run, policy: createPolicy(this.of.learner.setup, () => run) };
  }

  /** Draws who plays the rows in which an episode begins. */
  private draw(input: AgentInput<ActionSpaces>, present: Int32Array, generator: Generator): Int32Array {
    const players = present.slice();
    for (let row = 0; row < input.rows; row++) {
      if (input.isFirst[row] === 0) continue;
      const isLatest = generator.uniform() < this.rule.latest;
      players[row] = isLatest ? PRESENT : this.snapshots[generator.integer(this.snapshots.length)].serial;
    }
    return players;
  }

  /** A row whose snapshot has gone while its episode lasted plays on with the oldest one. */
  private policyOf(player: number): Policy {
    if (player === PRESENT) return this.of.learner.policy;
    return (this.snapshots.find(({ serial }) => serial === player) ?? this.snapshots[0]).policy;
  }
}
