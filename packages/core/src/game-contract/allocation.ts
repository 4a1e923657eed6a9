import { actionLayout } from '../action-spaces';
import { allocate } from '../arrays';
import { allocateStepArrays } from '../env-rows';
import { allocateObservations } from '../experience';
import type { AnyGame } from '../game';
import { createGenerator, streamSeed } from '../generator';
import type { ArrayOf, DType } from '../typed-arrays';
import type { Findings } from './findings';
import type { Transition } from './play';

/** Calls between two looks at the heap. */
const CALLS = 200;
/** Looks before a game counts as allocating: enough for the compiler to have optimised it, on a busy machine too. */
const LOOKS = 1000;
/** Bytes a call: below it are numbers that the engine boxes, above it lists, objects and views. */
const LIMIT = 64;

/** Bytes in use on the heap, where the machine tells (Node); elsewhere allocation isn't checked. */
function heapUsed(): number | undefined {
  const { process } = globalThis as { process?: { memoryUsage?: () => { heapUsed: number } } };
  return process?.memoryUsage?.().heapUsed;
}

/**
 * Checks that the functions that are called in every step allocate nothing, by calling each many times in one state.
 */
export function checkAllocation(game: AnyGame, findings: Findings, transition: Transition): void {
  findings.moment = `in ${CALLS * LOOKS} calls`;
  for (const [place, run] of Object.entries(stepFunctions(game, transition))) {
    const bytes = bytesOrFault(findings, place, run);
    if (bytes === undefined || bytes <= LIMIT) continue;
    const remedy = 'Make arrays and objects once, outside the function; use loops and indices instead of list methods.';
    findings.add('allocation', place, 'no allocation', `about ${Math.round(bytes)} bytes a call`, remedy);
  }
}

/** Bytes a call; a game that throws only after many calls is a finding. */
function bytesOrFault(findings: Findings, place: string, run: () => void): number | undefined {
  try {
    return bytesPerCall(run);
  } catch (error) {
    findings.add('exception', place, 'no error', String(error), 'Find out why it throws after so many calls.');
    return undefined;
  }
}

/** The least growth seen in one look: garbage collection makes a look useless, allocation shows in all others. */
function bytesPerCall(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS && least > LIMIT; look++) {
    const before = heapUsed();
    for (let call = 0; call < CALLS; call++) run();
    const after = heapUsed();
    if (before === undefined || after === undefined) return 0;
    if (after >= before) least = Math.min(least, (after - before) / CALLS);
  }
  return Number.isFinite(least) ? least : 0;
}

/** Each function as it is called in a step; functions of one agent are called for the first active agent. */
function stepFunctions(game: AnyGame, { before, views, actions }: Transition): Record<string, () => void> {
  const start = Float64Array.from(before);
  const state: ArrayOf<DType> = allocate(game.stateType, game.stateSize);
  state.set(start);
  const { dtype, maskSize } = actionLayout(game);
  const chosen = dtype === 'int32' ? Int32Array.from(actions) : Float32Array.from(actions);
  const generator = createGenerator(streamSeed(0, 'gameContract/allocation'));
  const result = allocateStepArrays(game, 1);
  const mask = new Uint8Array(maskSize);
  const seen = allocateObservations(game.observation, 1);
  const agent = Math.max(
    0,
    views.findIndex((view) => view.isActive),
  );
  return {
    step: () => {
      state.set(start);
      game.step(state, 0, chosen, 0, generator, result, 0);
    },
    legal: () => game.legal(state, 0, agent, mask, 0),
    observe: () => game.observe(state, 0, agent, seen, 0),
    isActive: () => game.isActive(state, 0, agent),
  };
}
