import { fail, type NDArray, show } from '@coplay/core';
import { isTypedArray, sizeOf } from '@coplay/core/arrays';
import { isPlainRecord } from '@coplay/core/checks';
import { isArray } from './convert';
import type { Executor, GraphInspection, Statics } from './executor';
import type { OperationTime } from './onnx/profile';
import { leavesOf, type Tree } from './tree';
import { inTurn } from './turns';

/** A compiled function before its inputs and outputs have types. */
export interface Callable {
  (inputs: Tree<NDArray>, statics?: Statics): Promise<Tree<NDArray>>;
  dispose(): void;
}

/**
 * A function that runs on an executor, which is made when the function is first called. All such functions take turns,
 * in the order of their calls: a call sees what every call before it wrote, and one that fails leaves the others alone.
 *
 * @param where  the function's name, as messages say it
 * @param check  looks at the inputs as soon as the function is called
 * @param turn   how its calls take turns. Default: {@link inTurn}
 */
export function callable(
  where: string,
  start: () => Promise<Executor>,
  check: (inputs: Tree<NDArray>) => void = () => undefined,
  turn: typeof inTurn = inTurn,
): Callable {
  let machine: Executor | undefined;
  let isDisposed = false;
  const call = async (inputs: Tree<NDArray>, statics: Statics = {}): Promise<Tree<NDArray>> => {
    if (isDisposed) fail(where, 'a call before dispose()', 'one after it', 'Compile it again.');
    checkCall(where, inputs, statics);
    check(inputs);
    return turn(async () => {
      machine ??= await start();
      return machine.run(inputs, statics);
    });
  };
  const dispose = (): void => {
    if (isDisposed) return;
    isDisposed = true;
    void turn(async () => machine?.dispose()); // the calls that were made before it still run
  };
  const compiled: Callable = Object.assign(call, { dispose });
  profilers.set(compiled, () => turn(async () => machine?.profile?.()));
  inspectors.set(compiled, (inputs, statics) =>
    turn(async () => {
      if (isDisposed) return undefined;
      machine ??= await start();
      return machine.inspect?.(inputs, statics);
    }),
  );
  return compiled;
}

/**
 * Refuses inputs that aren't arrays with as many numbers as their shapes say, and static values that no graph can be
 * told apart by.
 */
export function checkCall(where: string, inputs: Tree<NDArray>, statics: Statics): void {
  for (const [path, { data, shape }] of leavesOf(`${where}: inputs`, inputs, isArray)) {
    if (!isTypedArray(data))
      fail(where, `${path} to be float32, int32, uint8 or the like`, show(data), 'Convert it first.');
    const isShape = Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
    if (isShape && sizeOf(shape) === data.length) continue;
    const got = isShape ? `${data.length} numbers for shape [${shape}]` : `the shape ${show(shape)}`;
    fail(
      where,
      `inputs.${path} to be an array with as many numbers as its shape says`,
      got,
      'Use ndarray(data, shape).',
    );
  }
  if (!isPlainRecord(statics)) {
    fail(where, 'a record of static values', show(statics), 'Leave it out if there are none.');
  }
  for (const [name, value] of Object.entries(statics as Readonly<Record<string, unknown>>)) {
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) continue;
    const expected = `the static value ${name} to be a string, a number, a boolean or null`;
    fail(where, expected, show(value), 'Give arrays as inputs.');
  }
}

const profilers = new WeakMap<object, () => Promise<readonly OperationTime[] | undefined>>();

/**
 * Where the time of a function's calls went since it was last asked, by kind of operation, the longest first. For
 * functions that were compiled with `profile: true` and ran on ONNX Runtime in Node.
 *
 * @throws CoplayError for other functions
 */
export async function operationTimes(compiled: { dispose(): void }): Promise<readonly OperationTime[]> {
  const times = await profilers.get(compiled)?.();
  const expected = 'a function compiled with profile: true that ran on ONNX Runtime in Node';
  return times ?? fail('operationTimes', expected, 'another', 'Call it before, and look at executorInfo().');
}

type Inspector = (inputs: Tree<NDArray>, statics: Statics) => Promise<GraphInspection | undefined>;

const inspectors = new WeakMap<object, Inspector>();

/**
 * The cost of preparing a function's graph for inputs like these: times of tracing, passes and loading, and the size of
 * the graph after each pass. It's done once more for that; no state is read or written.
 *
 * @param inputs   arrays, as the function takes them
 * @param statics  as the function takes them
 * @throws CoplayError for functions that don't run on ONNX Runtime, or weren't made by `compile`
 */
export async function inspectGraph(
  compiled: { dispose(): void },
  inputs: Tree<NDArray>,
  statics: Statics = {},
): Promise<GraphInspection> {
  const inspection = await inspectors.get(compiled)?.(inputs, statics);
  const expected = 'a function made by compile() that runs on ONNX Runtime, and is in use';
  return inspection ?? fail('inspectGraph', expected, 'another', 'Look at executorInfo().');
}
