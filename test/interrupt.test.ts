import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const place = mkdtempSync(join(tmpdir(), 'coplay-interrupt-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** `npm start` as package.json runs it, in a folder of its own. */
function start(args: readonly string[]) {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const script = resolve('examples/start.ts');
  return spawn('node', ['--conditions=@coplay/source', '--import', tsx, script, ...args], { cwd: place });
}

it('Ctrl-C ends the main job in good order, and the line that it prints goes on', {
  tags: ['slow'],
  timeout: 240_000,
}, async () => {
  const child = start(['--steps', '100000000']);
  let output = '';
  const collect = (text: Buffer) => {
    output += text.toString();
    // The first progress line: it's in the middle of training.
    if (/steps\s+[\d,]+\/s/.test(output) && !child.killed) child.kill('SIGINT');
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const status = await new Promise((done) => child.on('close', done));
  expect(status).toBe(130);
  const command = /npm start -- (--resume \S+)/.exec(output);
  expect(command).not.toBeNull();
  expect(readdirSync(join(place, 'runs/stag-hunt-1/checkpoints'))).toHaveLength(1);

  const steps = Number(/Stopped after (\d+)/.exec(output)?.[1]);
  const again = start([...command![1].split(' '), '--steps', String(steps + 1024)]);
  let second = '';
  again.stdout.on('data', (text: Buffer) => {
    second += text.toString();
  });
  expect(await new Promise((done) => again.on('close', done))).toBe(0);
  expect(second).toContain('Evaluation: 1000 new episodes');
  expect(existsSync(join(place, 'runs/stag-hunt-1/learning-curve.png'))).toBe(true);
});
