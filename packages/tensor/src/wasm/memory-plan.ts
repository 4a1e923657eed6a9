import type { Instruction, Lowered } from './steps';
import type { Buffer, View } from './views';

/** Where buffers lie, in bytes. Addresses are multiples of 16. */
export interface MemoryPlan {
  /** In memory that belongs to the graph: constants, inputs that keep their values between calls. */
  readonly kept: ReadonlyMap<Buffer, number>;
  readonly keptBytes: number;
  /** In memory that every call may overwrite. */
  readonly scratch: ReadonlyMap<Buffer, number>;
  readonly scratchBytes: number;
}

/** When a buffer is in use: from the first step that writes to it to the last one that reads it. */
interface Life {
  first: number;
  last: number;
}

/** Bytes of a buffer, with room for a vector that reaches over the end. */
export function bytesOf({ size }: Buffer): number {
  return Math.ceil((4 * size + 16) / 16) * 16;
}

/**
 * Gives each buffer its place, once for all calls. Buffers that are never in use at the same time share memory: the
 * first free gap that is large enough is taken, in the order of the steps.
 */
export function planMemory({ instructions, inputs, outputs }: Lowered): MemoryPlan {
  const lives = new Map<Buffer, Life>();
  let time = 0;
  const shared = new Map<Buffer, Buffer>();
  const touch = (given: Buffer): void => {
    const buffer = shared.get(given) ?? given;
    const life = lives.get(buffer);
    if (life) life.last = time;
    else lives.set(buffer, { first: time, last: time });
  };
  const visit = (all: readonly Instruction[]): void => {
    for (const instruction of all) {
      if ('times' in instruction) {
        for (const [buffer, other] of instruction.shared) shared.set(buffer, shared.get(other) ?? other);
        for (const { buffer } of instruction.kept) touch(buffer);
        const start = ++time;
        visit(instruction.steps);
        // What was made before the loop and is read in it is read in every turn.
        for (const life of lives.values()) if (life.first < start && life.last >= start) life.last = time;
        for (const { buffer } of instruction.kept) touch(buffer);
        continue;
      }
      for (const { buffer } of [...instruction.step.reads, ...instruction.step.writes]) touch(buffer);
      time++;
    }
  };
  for (const { view } of inputs) touch(view.buffer);
  visit(instructions);
  for (const { view } of outputs) touch(view.buffer);

  const kept = new Map<Buffer, number>();
  let keptBytes = 0;
  for (const buffer of lives.keys()) {
    if (buffer.place === 'scratch') continue;
    kept.set(buffer, keptBytes);
    keptBytes += bytesOf(buffer);
  }
  const passing = [...lives].filter(([{ place }]) => place === 'scratch');
  const { scratch, scratchBytes } = fit(passing);
  for (const [buffer, other] of shared) scratch.set(buffer, scratch.get(other)!);
  return { kept, keptBytes, scratch, scratchBytes };
}

/** First fit over time. */
function fit(lives: readonly (readonly [Buffer, Life])[]): { scratch: Map<Buffer, number>; scratchBytes: number } {
  const scratch = new Map<Buffer, number>();
  let present: { readonly start: number; readonly end: number; readonly last: number }[] = [];
  let scratchBytes = 0;
  for (const [buffer, { first, last }] of [...lives].sort(([, a], [, b]) => a.first - b.first)) {
    present = present.filter((other) => other.last >= first);
    const size = bytesOf(buffer);
    let start = 0;
    for (const other of present) {
      if (start + size <= other.start) break;
      start = Math.max(start, other.end);
    }
    scratch.set(buffer, start);
    scratchBytes = Math.max(scratchBytes, start + size);
    const place = present.findIndex((other) => other.start >= start);
    present.splice(place < 0 ? present.length : place, 0, { start, end: start + size, last });
  }
  return { scratch, scratchBytes };
}

/** Where a view's first number lies. */
export function addressOf(
  { buffer, offset }: View,
  plan: MemoryPlan,
): { readonly isKept: boolean; readonly at: number } {
  const kept = plan.kept.get(buffer);
  return { isKept: kept !== undefined, at: (kept ?? plan.scratch.get(buffer)!) + 4 * offset };
}
