import { isNode, nodeModule } from '../environment';

/** Time that a function spent in one kind of operation. */
export interface OperationTime {
  /** By ONNX's name, such as `MatMul`. */
  readonly operation: string;
  /** How often it ran, in all calls together. */
  readonly count: number;
  readonly milliseconds: number;
}

/** One entry of ONNX Runtime's file of times; `dur` are microseconds. */
interface TraceEvent {
  readonly cat?: string;
  readonly name?: string;
  readonly dur?: number;
  readonly args?: { readonly op_name?: string };
}

interface Files {
  mkdtemp(prefix: string): Promise<string>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
}

/** A folder into which sessions write their times. */
export interface ProfileFolder {
  readonly path: string;
  /** Reads the profile, and removes the folder. */
  read(): Promise<readonly OperationTime[]>;
  remove(): Promise<void>;
}

/** Makes a folder for times; undefined in a browser, where ONNX Runtime writes none. */
export async function profileFolder(): Promise<ProfileFolder | undefined> {
  if (!isNode()) return undefined;
  const files = await nodeModule<Files>('node:fs/promises');
  const { tmpdir } = await nodeModule<{ tmpdir(): string }>('node:os');
  const path = await files.mkdtemp(`${tmpdir()}/coplay-profile-`);
  const remove = () => files.rm(path, { recursive: true, force: true });
  return {
    path,
    remove,
    async read() {
      const texts = await Promise.all(
        (await files.readdir(path)).map((name) => files.readFile(`${path}/${name}`, 'utf8')),
      );
      await remove();
      return sumTimes(texts.flatMap((text) => JSON.parse(text) as TraceEvent[]));
    },
  };
}

/** Sums the times of nodes by their operation, the longest first. */
function sumTimes(events: readonly TraceEvent[]): OperationTime[] {
  const sums = new Map<string, { count: number; microseconds: number }>();
  for (const { cat, name, dur, args } of events) {
    if (cat !== 'Node' || !name?.endsWith('_kernel_time') || args?.op_name === undefined) continue;
    const sum = sums.get(args.op_name) ?? { count: 0, microseconds: 0 };
    sums.set(args.op_name, { count: sum.count + 1, microseconds: sum.microseconds + (dur ?? 0) });
  }
  return [...sums]
    .map(([operation, { count, microseconds }]) => ({ operation, count, milliseconds: microseconds / 1000 }))
    .sort((a, b) => b.milliseconds - a.milliseconds);
}
