import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from 'coplay';

/** What a command line wrote, and its exit code. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line to its end. */
export async function coplay(
  args: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<Ended> {
  const [out, err]: string[][] = [[], []];
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    interrupt: () => signal,
  };
  const code = await runCommand(args, terminal);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** A configuration in a file of a folder of its own inside of `folder`. */
export function written(folder: string, configuration: object): string {
  const path = join(mkdtempSync(join(folder, 'configuration-')), 'run.json');
  writeFileSync(path, JSON.stringify(configuration));
  return path;
}

/** Files of a folder by their names; the path of the first. */
export function files(folder: string, contents: Readonly<Record<string, string>>): string {
  const paths = Object.entries(contents).map(([name, content]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  });
  return paths[0];
}
