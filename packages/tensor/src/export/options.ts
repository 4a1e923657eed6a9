import { checkOptions } from '@coplay/core';
import { z } from 'zod';
import type { Statics } from '../compile/executor';
import { leavesOf, type Tree } from '../compile/tree';
import { storeOf, type VariableStore, type Variables } from '../compile/variables';

/** One input of an exported function. */
export interface OnnxInput {
  /** `'batch'` where the file should take any size, a number where the size is fixed: `['batch', 4]`. */
  readonly shape: readonly (number | 'batch')[];
  /** In which the file wants it; the function gets uint8 as float32. Default `float32` */
  readonly dtype?: 'float32' | 'int32' | 'uint8';
  /** Its meaning, for readers of the file. */
  readonly meaning?: string;
}

/** Inputs by name, or records of them; `{ seen: { board } }` is called `seen/board` in the file. */
export type OnnxInputs = Tree<OnnxInput>;

/** Options of {@link exportOnnx}. */
export interface OnnxOptions<Key extends string = string> {
  /** Of the function, for the file and for messages. */
  readonly name: string;
  /** Names, shapes and dtypes of what goes in. */
  readonly inputs: OnnxInputs;
  /** The variables that the function reads, with their values of the moment: they become constants of the file. */
  readonly state?: Readonly<Record<Key, Variables>>;
  /** Static arguments, fixed in the file. Default none */
  readonly statics?: Statics;
  /** The meanings of the outputs, by name, for readers of the file. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** The function's purpose, in a sentence. */
  readonly description?: string;
  /** Further text by key, such as the names of actions or the game. Keys of Coplay's own begin with `coplay.` */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Options as checked. */
export interface ResolvedOnnxOptions extends OnnxOptions {
  readonly state: Readonly<Record<string, VariableStore>>;
  readonly statics: Statics;
  readonly outputs: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

const record = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());
const schema = z.strictObject({
  name: z.string().min(1),
  inputs: record,
  state: record.default({}),
  statics: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
  outputs: texts.default({}),
  description: z.string().optional(),
  metadata: texts.default({}),
});

const inputSchema = z.strictObject({
  shape: z.array(z.union([z.literal('batch'), z.int().min(0)])),
  dtype: z.enum(['float32', 'int32', 'uint8']).optional(),
  meaning: z.string().optional(),
});

/** Refuses options that can't be exported before anything is traced. */
export function checkOnnxOptions(name: string, options: OnnxOptions): ResolvedOnnxOptions {
  const checked = checkOptions(name, schema, options);
  const where = `${name}(${checked.name})`;
  const leaf = {
    root: 'inputs',
    kind: 'a shape and a dtype, or a record of them',
    remedy: "Say it so: { x: { shape: ['batch', 4] } }.",
  };
  for (const [path, input] of leavesOf(where, checked.inputs, isOnnxInput, leaf)) {
    checkOptions(`${where}: input ${path}`, inputSchema, input);
  }
  for (const [key, group] of Object.entries(checked.state)) {
    storeOf(where, `state.${key}`, group);
  }
  return checked as ResolvedOnnxOptions;
}

/** Whether something describes an input. */
export function isOnnxInput(x: unknown): x is OnnxInput {
  return typeof x === 'object' && x !== null && 'shape' in x && Array.isArray(x.shape);
}
