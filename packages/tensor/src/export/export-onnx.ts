import { allocate, fail, type NamedArrays, type NDArray } from '@coplay/core';
import { checkFunction, checkText } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import type { StepFunction } from '../compile/compile';
import type { TensorRecord, TensorTree } from '../compile/convert';
import type { AnyStep } from '../compile/executor';
import { record } from '../compile/onnx/record';
import { leavesOf, mapTree } from '../compile/tree';
import type { Graph, NamedValue, Value } from '../graph';
import { type Bytes, encodeModel, type ModelInfo, modelBytes } from '../onnx';
import { deadNodes } from '../passes/dead-nodes';
import { type Affine, nameOfSize } from './affine';
import { type AnyBatch, anyBatch } from './batch';
import { bindConstants, keepOutputs, stripPrefixes } from './bind';
import { checkOnnxOptions, isOnnxInput, type OnnxInput, type OnnxOptions, type ResolvedOnnxOptions } from './options';
import { standardise } from './standard';
import { TENSOR_VERSION } from './version';

/** Sizes at which a function is traced to learn where the batch size matters: no layer is likely to have them. */
const BATCHES = [37, 41, 43];

/** The content of an exported file. */
export interface OnnxFile {
  /** The size of the file in bytes. */
  readonly size: number;
  /** Number of operations. */
  readonly operations: number;
  /** Shapes and dtypes by name; sizes that follow the batch are words, such as `batch`. */
  readonly inputs: Readonly<Record<string, OnnxValue>>;
  /** The same of what comes out. */
  readonly outputs: Readonly<Record<string, OnnxValue>>;
}

/** Shape and dtype of an input or output of a file. */
export interface OnnxValue {
  readonly shape: readonly (number | string)[];
  readonly dtype: string;
}

/**
 * Writes a function of tensors as a standard ONNX file (operator set 18, no operators of ONNX Runtime's own), which
 * ONNX Runtime and others read in any language. It's a function as {@link compile} takes: the present values of its
 * variables become constants; of its result, the outputs are exported, and the new state isn't. The file appears whole
 * or not at all.
 *
 * Inputs and outputs have the names of the function's own records (`seen/board` where they're nested). Axes given as
 * `'batch'` may have any size from 1 on.
 *
 * @param file  path of the file; an older one is replaced
 * @throws CoplayError if the function can't be traced, depends on the batch size other than by shapes, or needs more
 *         than 2 GB; or if the file can't be written
 */
export async function exportOnnx<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, file: string, options: OnnxOptions<Key>): Promise<OnnxFile> {
  checkText('exportOnnx', 'file', file);
  const { graph, info, summary } = await build('exportOnnx', fn as unknown as AnyStep, options);
  const bytes: Bytes = modelBytes(graph, info);
  const remedy = 'The previous file is intact: mend that and export again.';
  await writeWhole(file, bytes.pieces, { where: `exportOnnx(${info.name})`, remedy });
  return { size: bytes.length, ...summary };
}

/** The bytes of the file that {@link exportOnnx} would write, for browsers, or to be kept elsewhere. */
export async function toOnnx<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: OnnxOptions<Key>): Promise<Uint8Array> {
  const { graph, info } = await build('toOnnx', fn as unknown as AnyStep, options);
  return encodeModel(graph, info);
}

interface Built {
  readonly graph: Graph;
  readonly info: ModelInfo;
  readonly summary: Omit<OnnxFile, 'size'>;
}

async function build(name: string, fn: AnyStep, given: OnnxOptions): Promise<Built> {
  checkFunction(name, 'fn', fn);
  const options = checkOnnxOptions(name, given);
  const where = `${name}(${options.name})`;
  const inputs = leavesOf(where, options.inputs, isOnnxInput);
  const values = await readState(options);
  const { graph: traced, outputSizes } = traceAnyBatch(where, fn, options);
  const bound = stripPrefixes(bindConstants(traced, values));
  const graph = deadNodes(standardise(where, bound));
  checkNames(where, graph, options);
  const summary = {
    operations: graph.nodes.length,
    inputs: Object.fromEntries(inputs.map(([path, { shape, dtype = 'float32' }]) => [path, { shape, dtype }])),
    outputs: Object.fromEntries(graph.outputs.map((output) => [output.name, describe(output, outputSizes)])),
  };
  return { graph, summary, info: modelInfo(options, summary) };
}

/** The values of all variables, by the names that tracing gives them. */
async function readState({ state }: ResolvedOnnxOptions): Promise<NamedArrays> {
  const groups = await Promise.all(Object.values(state).map((group) => group.read()));
  const values: NamedArrays = {};
  for (const [i, key] of Object.keys(state).entries()) {
    for (const name in groups[i]) values[`state/${key}/${name}`] = groups[i][name];
  }
  return values;
}

/** Traces the function, at several batch sizes where one is asked for. */
function traceAnyBatch(where: string, fn: AnyStep, { inputs, state, statics }: ResolvedOnnxOptions): AnyBatch {
  const at = (batch: number): Graph => {
    const like = mapTree<OnnxInput, NDArray>(inputs, isOnnxInput, (input) => arrayLike(input, batch));
    const { graph } = record(where, fn, state, like, statics);
    return deadNodes(keepOutputs(graph));
  };
  const leader = leavesOf(where, inputs, isOnnxInput).find(([, { shape }]) => shape.includes('batch'));
  if (!leader) {
    const graph = at(1);
    const fixed = ({ shape }: Value) => shape.map((offset) => ({ slope: 0, offset }));
    return { graph, outputSizes: Object.fromEntries(graph.outputs.map(({ name, value }) => [name, fixed(value)])) };
  }
  const [path, { shape }] = leader;
  const batchInput = `in/${path}`;
  const batchAxis = shape.indexOf('batch');
  return anyBatch({ where, batches: BATCHES, graphs: BATCHES.map(at), batchInput, batchAxis });
}

/** An array that has only a shape and a dtype: tracing reads no more. */
function arrayLike({ shape, dtype = 'float32' }: OnnxInput, batch: number): NDArray {
  return { data: allocate(dtype, 0), shape: shape.map((size) => (size === 'batch' ? batch : size)) };
}

/** In an ONNX file inputs and outputs differ only by their names. */
function checkNames(where: string, { inputs, outputs }: Graph, options: ResolvedOnnxOptions): void {
  const names = inputs.map(({ name }) => name);
  const twice = outputs.find(({ name }) => names.includes(name));
  if (twice) fail(where, 'inputs and outputs of different names', `two named ${twice.name}`, 'Rename the output.');
  const known = outputs.map(({ name }) => name);
  const unknown = Object.keys(options.outputs).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  fail(`${where}: option outputs`, `names of outputs: ${known.join(', ')}`, unknown, 'Remove it.');
}

function describe({ name, value }: NamedValue, sizes: Readonly<Record<string, readonly Affine[]>>): OnnxValue {
  const shape = sizes[`out/${name}`].map((size) => nameOfSize(size) ?? size.offset);
  return { shape, dtype: value.dtype };
}

function modelInfo(options: ResolvedOnnxOptions, { inputs, outputs }: Omit<OnnxFile, 'size'>): ModelInfo {
  const { name, description, metadata } = options;
  const meanings: Record<string, string> = { ...options.outputs };
  for (const [path, { meaning }] of leavesOf(name, options.inputs, isOnnxInput)) if (meaning) meanings[path] = meaning;
  const dynamicAxes: Record<string, Record<number, string>> = {};
  const about: Record<string, OnnxValue & { readonly meaning?: string }> = {};
  for (const [key, value] of Object.entries({ ...inputs, ...outputs })) {
    const words = [...value.shape.entries()].filter(([, size]) => typeof size === 'string');
    dynamicAxes[key] = Object.fromEntries(words) as Record<number, string>;
    about[key] = meanings[key] === undefined ? value : { ...value, meaning: meanings[key] };
  }
  const pick = (values: object) =>
    JSON.stringify(Object.fromEntries(Object.keys(values).map((key) => [key, about[key]])));
  return {
    name,
    version: TENSOR_VERSION,
    ...(description === undefined ? {} : { description }),
    meanings,
    dynamicAxes,
    metadata: {
      'coplay.version': TENSOR_VERSION,
      'coplay.function': name,
      'coplay.inputs': pick(inputs),
      'coplay.outputs': pick(outputs),
      ...metadata,
    },
  };
}
