import {
  type ActionArray,
  type AnyGame,
  fail,
  type NamedArrays,
  type NDArray,
  type ObservationArrays,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, functions, namedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/**
 * The shapes of a network's inputs, without the batch dimension: images `[H, W, C]` by field name, and everything else
 * in `vector` `[F]`.
 */
export type InputShapes = Readonly<Record<string, readonly number[]>>;

/** Options of {@link inputEncoder}. */
export interface InputOptions {
  /** Which observation fields are read. Default: all of the game's */
  readonly fields?: readonly string[];
  /**
   * Adds the previous actions of all agents, the agent's own first, then in cyclic order of seats: as one-hots, those
   * of a box as they are. Default false
   */
  readonly previousActions?: boolean;
  /** Adds the seat as a one-hot: needed where several agents share weights but should differ. Default false */
  readonly agentId?: boolean;
  /**
   * Moves images so that the agent itself is in the middle ({@link centredEncoder}): learned from with far fewer rows,
   * four times as many inputs. Default false
   */
  readonly centred?: boolean;
  /** Adds the legal actions [K]. Default false: the mask is applied to the policy's logits in any case */
  readonly mask?: boolean;
  /**
   * Adds named numbers of the experience, such as subgoals: the count of each, n. They are divided by the root of n: a
   * few dozen latents about as large as 1 would drown the handful of ones in a grid. Default none
   */
  readonly extras?: Readonly<Record<string, number>>;
}

/**
 * Where rows come from: one seat's rows of a larger array. Row i of the batch is `offset + i * stride` of the arrays.
 */
export interface RowSource {
  readonly rows: number;
  readonly seat: number;
  readonly offset: number;
  readonly stride: number;
  readonly observations: ObservationArrays;
  readonly masks: Uint8Array;
  /** [rows, A]; in other spaces than discrete ones [rows, A, W] */
  readonly previousActions: ActionArray;
  readonly extras: NamedArrays;
  /**
   * For each row of the arrays, 1 where an agent observed it: the numbers of other rows don't matter. Default: all 1
   */
  readonly active?: Uint8Array;
  /** Names a row in messages: `environment 3, step 5`. Default `row 3` */
  readonly nameRow?: (row: number) => string;
}

/**
 * The content of a network's input: zeros and ones, one-hot codes of `classes` zeros and ones behind one another along
 * the last axis, a picture with values from 0 to `high`, or numbers of any size.
 */
export type InputKind =
  | { readonly kind: 'planes' }
  | { readonly kind: 'codes'; readonly classes: number }
  | { readonly kind: 'image'; readonly high: number }
  | { readonly kind: 'vector' };

/** The kinds of inputs, by name. */
export type InputKinds = Readonly<Record<string, InputKind>>;

/** Turns what agents see into what networks read. */
export interface InputEncoder {
  readonly shapes: InputShapes;
  readonly kinds: InputKinds;
  /**
   * For each input with measured numbers, that is fields of the kind `vector`: an array of its shape with a 1 for each
   * of them. Images that are moved have none
   */
  readonly measured: Readonly<Record<string, NDArray<Uint8Array>>>;
  /** Zeros [rows, ...shape] for each of `shapes`, of the type that {@link encode} gives. */
  allocate(rows: number): NamedArrays;
  /**
   * @param into  zeros [N, ...shape], N at least `rows`, to write the rows to, from the first on. Default: new arrays
   * @returns for each of `shapes` an array [rows, ...shape]: uint8 where a field is held as zeros and ones, else
   *          float32; `into`, if that was given
   * @throws CoplayError for values that aren't finite or don't fit the kind of their field, by name
   */
  encode(source: RowSource, into?: NamedArrays): NamedArrays;
}

/** A reader's requirements for an encoder, in addition to {@link InputOptions}. */
export interface InputReading {
  /** `scaled` divides the values of images by their largest, `raw` leaves that to the network. Default `scaled` */
  readonly images?: 'scaled' | 'raw';
  /**
   * Where flat fields of zeros and ones go, that is those of the kinds `planes`, `one-hot` and `indices`: `joined` puts
   * them into `vector` with all other numbers; `apart` makes each an input of its own, for readers whose likelihood
   * goes by the kind. Default `joined`
   */
  readonly flags?: 'joined' | 'apart';
  /**
   * Whether fields that declare no kind have to fit the one that is assumed; needed where a likelihood goes by it.
   * Default false
   */
  readonly assumed?: boolean;
}

/** The part of a game that an encoder goes by. */
export type SeenGame = Pick<AnyGame, 'name' | 'agents' | 'actions' | 'observation'>;

/** The schema of {@link InputShapes}. */
export const shapesSchema = z.record(z.string(), z.array(z.int().min(0)));
/** The schema of an {@link InputEncoder}, for functions that receive one. */
export const encoderSchema = z
  .looseObject({ shapes: shapesSchema, measured: namedArrays, allocate: functions(), encode: functions() })
  .refine(({ shapes, measured }) => Object.keys(measured).every((name) => Object.hasOwn(shapes, name)), {
    error: 'inputs of the encoder as keys of measured',
  });

/** Refuses arrays that an encoder of these shapes can't write so many rows to. */
export function checkRoom(where: string, shapes: InputShapes, into: NamedArrays, rows: number): void {
  checkArgument(where, 'into', namedArrays, into);
  for (const [name, shape] of Object.entries(shapes)) {
    const got = Object.hasOwn(into, name) ? into[name].data.length : 0;
    const expected = rows * sizeOf(shape);
    if (got >= expected) continue;
    fail(`${where}: into.${name}`, `room for ${expected} numbers`, String(got), 'Take what allocate(rows) makes.');
  }
}

/** Number of inputs of a network that reads everything flat. */
export function flatSize(shapes: InputShapes): number {
  checkArgument('flatSize', 'shapes', shapesSchema, shapes);
  return Object.values(shapes).reduce((sum, shape) => sum + sizeOf(shape), 0);
}
