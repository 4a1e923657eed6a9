import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A script that stays, takes a request a line on standard input, and answers each by a line of JSON. */
export interface Peer {
  /** @throws Error with the script's answer where it failed */
  ask<Reply>(request: Readonly<Record<string, unknown>>): Promise<Reply>;
  /** Ends the script. */
  end(): void;
}

/** Starts a script; its standard error is passed on. */
export function startPeer(command: string, args: readonly string[]): Peer {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  let problem: Error | undefined;
  const give = (error: Error) => {
    problem = error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(line));
  child.stdin.on('error', give);
  child.on('error', give);
  child.on('exit', (status) => give(new Error(`${args[0]} ended with status ${status}`)));
  return {
    async ask<Reply>(request: Readonly<Record<string, unknown>>) {
      const line = await new Promise<string>((resolve, reject) => {
        if (problem) return reject(problem);
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(request)}\n`);
      });
      const reply = JSON.parse(line) as Reply & { error?: string };
      if (reply.error !== undefined) throw new Error(reply.error);
      return reply;
    },
    end: () => void child.stdin.end(),
  };
}
