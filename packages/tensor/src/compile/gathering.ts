import { oneForAllCopies } from '@coplay/core/checks';

/** How many batches of calls are being gathered: they are handed on when the event loop turns. */
const gathering = oneForAllCopies('@coplay/tensor/gathering@1', () => ({ open: 0 }));

/** Runs a job when all promises that can go on have done so. */
export function afterTurn(job: () => void): void {
  gathering.open++;
  whenLoopTurns(() => {
    gathering.open--;
    job();
  });
}

/** Waits until no batch of calls is being gathered; not at all where none is. */
export async function untilGathered(): Promise<void> {
  while (gathering.open > 0) await new Promise<void>(whenLoopTurns);
}

function whenLoopTurns(job: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(job);
  else setTimeout(job, 0);
}
