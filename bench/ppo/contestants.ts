import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Context, findPython, runPython } from '../harness';
import type { Run, Task, Update } from './trial';

/** A program that does a task, in a process of its own. */
export interface Contestant {
  readonly key: 'ours' | 'jax';
  run(task: Task): Promise<Run>;
}

/** Ourselves, and JAX where peers are asked for and it can be found. */
export function contestants({ withPython, say }: Context): Contestant[] {
  if (!withPython) return [ours];
  const python = findPython(['jax', 'optax']);
  if ('command' in python) return [ours, jax(python.command)];
  say(`JAX is left out: ${python.missing}`);
  return [ours];
}

const ours: Contestant = {
  key: 'ours',
  run: (task) =>
    new Promise((resolve, reject) => {
      const child = fork(pathOf('ours.ts'), [JSON.stringify(task)]);
      let run: Run | undefined;
      child.on('message', (message) => {
        run = message as Run;
      });
      child.on('error', reject);
      child.on('exit', (status) => (run && status === 0 ? resolve(run) : reject(new Error(`ended with ${status}`))));
    }),
};

function jax(command: string): Contestant {
  return {
    key: 'jax',
    async run(task) {
      const output = await runPython(command, [pathOf('../peers/stag_hunt_jax.py'), JSON.stringify(task)]);
      const [head, ...updates] = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      return { ...(head as Pick<Run, 'name' | 'compileSeconds'>), updates: updates as Update[] };
    },
  };
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
