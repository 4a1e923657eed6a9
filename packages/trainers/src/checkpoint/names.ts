/** Why a directory has another name than its checkpoint's. */
export type Purpose = 'writing' | 'replaced' | 'removing';

/** A directory that a killed or running process left among the checkpoints. */
export interface Leftover {
  /** Its own name. */
  readonly name: string;
  /** The name of the checkpoint it was or would have been. */
  readonly checkpoint: string;
  readonly purpose: Purpose;
}

const STEP = /^step-(\d{12,})$/;
const LEFTOVER = /^(step-\d{12,})\.(writing|replaced|removing)-(\d+)-(\d+)$/;

// Names that this process is using now; any other name with its id was left by an earlier process of the same id.
const inUse = new Set<string>();
let counter = 0;

/** The directory of a step: `step-000000012345`. Names sort by step. */
export function checkpointName(step: number): string {
  return `step-${String(step).padStart(12, '0')}`;
}

/** Whether a name is that of a checkpoint. */
export function isCheckpointName(name: string): boolean {
  return STEP.test(name);
}

/** Runs `work` with a name that no other process uses, and that {@link abandoned} leaves alone meanwhile. */
export async function withName<T>(
  checkpoint: string,
  purpose: Purpose,
  work: (name: string) => Promise<T>,
): Promise<T> {
  const name = `${checkpoint}.${purpose}-${process.pid}-${counter++}`;
  inUse.add(name);
  try {
    return await work(name);
  } finally {
    inUse.delete(name);
  }
}

/** The names in a directory that are leftovers. */
export function leftovers(names: readonly string[]): Leftover[] {
  return names.flatMap((name) => {
    const parts = LEFTOVER.exec(name);
    return parts ? [{ name, checkpoint: parts[1], purpose: parts[2] as Purpose }] : [];
  });
}

/** Whether no process works on a leftover any more. */
export function abandoned(leftover: Leftover): boolean {
  const owner = Number(LEFTOVER.exec(leftover.name)?.[3]);
  return owner === process.pid ? !inUse.has(leftover.name) : !isAlive(owner);
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0); // sends nothing: asks whether it could
    return true;
  } catch (error) {
    // Another user's process may not be asked, but is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
