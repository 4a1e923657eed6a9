import { spawn } from 'node:child_process';
import { reasonOf } from './reason';

/** How a program ended. */
export interface Ended {
  readonly ok: boolean;
  /** Its text on both outputs; empty where they went to ours. */
  readonly output: string;
  readonly seconds: number;
}

/** Options of {@link run}. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Seconds after which the program is ended and counts as failed. Default 600. */
  readonly limit?: number;
  /** Whether its outputs go to ours as they come instead of being kept. Default false. */
  readonly live?: boolean;
}

/** Runs a program without a shell and without input, to its end or its time limit. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { cwd, env = process.env, limit = 600, live = false } = options;
  const start = process.hrtime.bigint();
  const child = spawn(command, args, {
    ...(cwd && { cwd }),
    env,
    stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const timer = setTimeout(() => {
    output += `\nStill running after ${limit} s: ended.\n`;
    child.kill('SIGKILL');
  }, limit * 1000);
  return new Promise((resolve) => {
    const end = (ok: boolean) => {
      clearTimeout(timer);
      resolve({ ok, output, seconds: Number(process.hrtime.bigint() - start) / 1e9 });
    };
    child.on('error', (error) => {
      output += String(error);
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}

/** Runs a program that must succeed; throws with the reason from its output otherwise. */
export async function mustRun(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const ended = await run(command, args, options);
  if (!ended.ok) throw new Error(`${[command, ...args].join(' ')} failed:\n${reasonOf(ended.output)}`);
  return ended.output;
}
