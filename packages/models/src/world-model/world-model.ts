import type { ArrayOf, DType, Game, Generator, NamedArrays, NDArray } from '@coplay/core';
import type { TensorRecord, tf } from '@coplay/tensor';
import type { SeenStep } from './observed-game';

/**
 * A model of the world: (state, joint action) to next state, rewards and who has ended. Functions of parameters and
 * tensors (`imagine`, `loss`), which are compiled, and functions of arrays that join them to the game (`encode`,
 * `decode`, `write`).
 *
 * A transition is a row of named arrays [B, ...]. What comes after the step has names that begin with `next/`; the
 * others are known before it, but for `rewards`. `data` says which rows the model reads:
 *
 * - `grid`: `cells` int32 [B, A], `things` uint8 [B, M, HW], `fixed` uint8 [B, F, HW], `elapsed` int32 [B], `actions`
 *   int32 [B, A] (-1 for agents that had left), `rewards` float32 [B, A], `next/cells`, `next/things`: see `GridArrays`
 *   of core.
 * - `observations`: every field of the game's observation [B, A, ...shape] and `next/FIELD`, `masks` uint8 [B, A, K]
 *   and `next/masks`, `elapsed`, `actions` and `rewards` as above, `active` uint8 [B, A] before the step,
 *   `next/terminated` uint8 [B, A]. With `history` L also `past/FIELD` [B, L, A, ...shape] and `past/actions` int32 [B,
 *   L, A], the oldest step first; actions are -1 where the episode, or the
 *   experience, hadn't begun. A model with `ownView` reads what it makes of them.
 */
export interface WorldModel {
  /** What kind of model it is, such as `cells`. */
  readonly kind: string;
  /** As JSON, for run directories and checkpoints. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The game whose states it predicts: that of its experience, or one derived from it, as of joint observations. */
  readonly game: Game;
  readonly data: 'grid' | 'observations';
  /** Fresh parameters. */
  init(generator: Generator): NamedArrays;
  /**
   * Its prediction of a step, as probabilities and means [B, ...]: an ensemble averages its members' predictions, and
   * their variance is the disagreement.
   *
   * @param rows  the state and actions before the step, as tensors
   */
  imagine(params: TensorRecord, rows: TensorRecord): TensorRecord;
  /**
   * What training minimises, a mean over the rows, and its parts by name in snake_case, such as `cells_loss`.
   *
   * @param rows  transitions, as tensors
   */
  loss(params: TensorRecord, rows: TensorRecord): { loss: tf.Scalar; metrics: TensorRecord };
  /**
   * Rows for `imagine` of states of the game.
   *
   * @param states   B states of the game, one after the other
   * @param actions  [B, A]
   */
  encode(states: ArrayOf<DType>, actions: Int32Array): NamedArrays;
  /**
   * The outcome of a step, made from its prediction: the fields `next/NAME` of the rows, `rewards` [B, A], and
   * `terminated` uint8 [B, A].
   *
   * @param imagined   what `imagine` returned
   * @param rows       the rows before the step
   * @param generator  to draw the outcome; without it, the most probable one
   */
  decode(imagined: NamedArrays, rows: NamedArrays, generator?: Generator): NamedArrays;
  /** Writes row `row` of what happened over the state that it happened in, its step counted. */
  write(happened: NamedArrays, row: number, states: ArrayOf<DType>, offset: number): void;
  /**
   * Its prediction as raw planes [B, H, W, A + F + M]: agents by seat, fixed things, other things. For evaluation;
   * models of games that aren't played on a grid have none.
   */
  planes?(imagined: NamedArrays, rows: NamedArrays): NDArray<Float32Array>;
  /** Refuses transitions that the model can't represent. */
  check?(rows: NamedArrays): void;
  /** L, past steps in the rows of `observations`. Default 0 */
  readonly history?: number;
  /** The game of its experience, where `game` is derived from it. */
  readonly source?: Game;
  /**
   * [B, S] states of `game` that rows of `observations` before a step say; where `game` is derived, imagination starts
   * from them.
   */
  statesOf?(rows: NamedArrays): ArrayOf<DType>;
  /**
   * [B, S] the states of `game` in which the agent in a seat acts, from what it sees; where `game` is derived, an agent
   * searches from them.
   *
   * @param before  [B, S] those of the step before; they don't matter in rows that begin an episode
   */
  see?(seat: number, seen: SeenStep, before: ArrayOf<DType>): ArrayOf<DType>;
  /** Of a model that predicts what one agent sees: a state of `game` is the view of one seat. */
  readonly ownView?: OwnView;
  /**
   * Whether a number of what happened counts as predicted. Default: an error of at most 1e-4
   *
   * @param name  as in what `decode` returns: `next/planes`
   */
  agrees?(name: string, predicted: number, truth: number): boolean;
}

/** How a model of own views reads rows of all agents. Its rows have the agents in the order from the viewer on. */
export interface OwnView {
  /**
   * Rows of `observations` as rows of own views: `seat` int32 [N]; the viewer's part of observations, masks and
   * rewards, [N, 1, ...]; `active`, `actions`, `past/actions` and `next/terminated`, which all agents know, of all
   * agents.
   *
   * @param seat  whose view each row becomes. Default: a row for each agent that plays in it
   */
  rows(rows: NamedArrays, seat?: number): NamedArrays;
  /** The seat whose view a state is. */
  seatOf(states: ArrayOf<DType>, offset: number): number;
}

/** Makes a {@link WorldModel} of a game: what trainers ask for. */
export type WorldModelBuilder = (game: Game) => WorldModel;
