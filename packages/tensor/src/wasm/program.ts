import { Code, type Local, ModuleBuilder } from './assembler';
import { IMPORTS } from './imports';
import { addressOf, type MemoryPlan } from './memory-plan';
import type { Instruction, Lowered, Placed } from './steps';
import type { View } from './views';

/** Letters of a function's name, which starts with the kind of step. */
const LONGEST_NAME = 60;

/**
 * The WebAssembly module of a graph: `run(kept, scratch)` computes it, in the two pieces of memory whose addresses it
 * is given.
 */
export function encodeProgram({ instructions }: Lowered, plan: MemoryPlan, isFused: boolean): Uint8Array {
  const builder = new ModuleBuilder(IMPORTS);
  const functions = new Map<string, number>();
  const functionFor = ({ step }: Placed): number => {
    const known = functions.get(step.key);
    if (known !== undefined) return known;
    const code = new Code(Array(step.reads.length + step.writes.length).fill('i32'), isFused);
    step.emit(code, code.params);
    const index = builder.add(code, step.key.slice(0, LONGEST_NAME));
    functions.set(step.key, index);
    return index;
  };
  const run = new Code(['i32', 'i32'], isFused);
  const [kept, scratch] = run.params;
  const push = (view: View, stride: number | undefined, turn: Local | undefined): void => {
    const { isKept, at } = addressOf(view, plan);
    run.get(isKept ? kept : scratch);
    run.i32(at);
    run.op('i32.add');
    if (stride === undefined || !turn) return;
    run.get(turn);
    run.i32(stride);
    run.op('i32.mul');
    run.op('i32.add');
  };
  const emit = (all: readonly Instruction[], turn?: Local): void => {
    for (const instruction of all) {
      if ('times' in instruction) run.repeat(instruction.times, 1, (counter) => emit(instruction.steps, counter));
      else {
        const { step, strides } = instruction;
        for (const view of [...step.reads, ...step.writes]) push(view, strides?.get(view), turn);
        run.call(functionFor(instruction));
      }
    }
  };
  emit(instructions);
  return builder.encode(builder.add(run, 'run'));
}
