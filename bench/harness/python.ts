import { spawn, spawnSync } from 'node:child_process';

/** A Python with the packages that a peer needs, or why there is none. */
export type Python = { readonly command: string } | { readonly missing: string };

/** Looks for a Python that can import all of `modules`. The environment variable PYTHON names one to try first. */
export function findPython(modules: readonly string[] = []): Python {
  const commands = [process.env['PYTHON'], 'python3', 'python'].filter((command) => command !== undefined);
  const works = (command: string, code: string) => spawnSync(command, ['-c', code], { stdio: 'ignore' }).status === 0;
  const found = commands.filter((command) => works(command, 'import sys; sys.exit(sys.version_info < (3, 8))'));
  if (found.length === 0) return { missing: 'no Python 3.8 or later was found' };
  const command = found.find((candidate) => works(candidate, modules.map((name) => `import ${name}`).join('\n')));
  if (command !== undefined) return { command };
  return { missing: `${found[0]} lacks one of: ${modules.join(', ')}` };
}

/**
 * Runs a script; its stderr is passed on.
 *
 * @returns its standard output
 * @throws if it fails
 */
export function runPython(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with status ${status}`));
    });
  });
}
