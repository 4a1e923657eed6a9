import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A port of this machine that nothing listens to. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts redis-server with a file of all changes, and waits until it takes connections. */
export async function startRedis(data: string, port: number, password: string): Promise<ChildProcess> {
  mkdirSync(data, { recursive: true });
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password, '--dir', data];
  const server = spawn('redis-server', [...place, '--appendonly', 'yes', '--appendfsync', 'always'], {
    stdio: 'ignore',
  });
  while (!(await answers(port))) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with status ${server.exitCode}`);
    await sleep(50);
  }
  return server;
}

/** Kills a server. A new one that started before the old one's end would not get the port, and end. */
export async function killServer(server: ChildProcess): Promise<void> {
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

/** Sends a signal to a process that leads a group, and to its children. */
export function signalGroup({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, name);
}

/** Whether a server at a port of this machine takes connections. */
function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => done(false));
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
  });
}
