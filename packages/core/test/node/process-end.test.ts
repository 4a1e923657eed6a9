import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../../../../test/programs';

/** In a process of its own, which a signal can end, and in which nothing else listens. */
const PROGRAM = `
  import { writeSync } from 'node:fs';
  import { atProcessEnd } from './index';
  const say = (text) => writeSync(1, text + ' ');
  const counts = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name)).join('');
  const [way] = process.argv.slice(2);
  if (way === 'counts') {
    const before = counts();
    const takeBack = Array.from({ length: 12 }, () => atProcessEnd(() => say('called')));
    say(before + ' ' + counts());
    for (const back of [...takeBack, takeBack[0]]) back();
    say(counts());
  } else {
    const takeBack = ['a', 'b', 'c'].map((name) => atProcessEnd(() => say(name)));
    takeBack[2]();
    const other = () => say('other');
    process.on('SIGHUP', other);
    process.emit('SIGHUP', 'SIGHUP');
    process.off('SIGHUP', other);
    if (way === 'exit') process.exit(3);
    setInterval(() => {}, 1000);
    process.kill(process.pid, way);
  }`;

const program = join(placeOfPrograms(), 'process-end.mjs');
beforeAll(async () => {
  const resolveDir = join(import.meta.dirname, '../../src/node');
  await bundleProgram(program, { stdin: { contents: PROGRAM, resolveDir, loader: 'ts' } });
});

/** What the program said, and how it ended. */
function run(way: string): Promise<readonly [string, number | NodeJS.Signals | null]> {
  const child = spawn(process.execPath, [program, way]);
  let said = '';
  child.stdout.on('data', (data) => {
    said += String(data);
  });
  return new Promise((resolve) => child.once('close', (code, signal) => resolve([said.trim(), code ?? signal])));
}

describe('atProcessEnd', () => {
  it('listens once, however many ask, and not any more when all requests are taken back', async () => {
    expect(await run('counts')).toEqual(['000 111 000', 0]);
  });

  it('calls all that was not taken back; nothing at a signal that something else listens to', async () => {
    expect(await run('SIGHUP')).toEqual(['other a b', 'SIGHUP']);
    expect(await run('SIGTERM')).toEqual(['other a b', 'SIGTERM']);
    expect(await run('exit')).toEqual(['other a b', 3]);
  });
});
