import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../programs';

const programs = placeOfPrograms();
const script = join(programs, 'run.mjs');
beforeAll(async () => {
  // The command line is given its studies as TypeScript.
  for (const [name, bundle] of [
    ['run.ts', 'run.mjs'],
    ['toy.ts', 'toy.ts'],
    ['broken.ts', 'broken.ts'],
  ]) {
    const source = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
    await bundleProgram(join(programs, bundle), { entryPoints: [source] });
  }
});

/** Runs the command line of the fixtures in a fresh place, or in one of before. */
function study(args: readonly string[], { place = newPlace(), killAt = '', commit = 'abc' } = {}) {
  const results = join(place, 'results');
  const out = join(place, 'out');
  const command = ['--conditions=@coplay/source', '--import', 'tsx', script, ...args, '--out', out];
  const env = { ...process.env, RESULTS: results, KILL_AT: killAt, COMMIT: commit };
  const child = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  const last = child.stdout.trimEnd().split('\n').at(-1) ?? '';
  const result = last.startsWith('RESULT ') ? JSON.parse(last.slice('RESULT '.length)) : undefined;
  return { ...child, place, results, out, result };
}

function newPlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'coplay-study-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

const read = (path: string) => readFileSync(path, 'utf8');

describe('a study whose bars hold', () => {
  it('says how long it takes, writes everything, prints RESULT last and ends with 0', { tags: ['slow'] }, () => {
    const { status, stdout, stderr, result, results, out } = study(['toy', '--peer', 'python']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^toy: about .* (seconds|minutes?) on this machine, 3 seeds; files go to /);
    expect(stdout).toMatch(/Seeds\nseed\s+value\n/);
    expect(result).toMatchObject({
      name: 'toy',
      command: 'npm run study -- toy --peer python --out DIR',
      settings: { quick: false, seeds: 3, options: { factor: '1', weights: '1,1' } },
      figures: { values: [{ value: 1 }, { value: 2 }, { value: 3 }], withPython: true },
      commit: 'abc',
      otherCommits: {},
      leftOut: [],
      bars: { sum: { value: 6, bar: 6, verdict: 'holds' }, largest: { value: 3, bar: 10, verdict: 'holds' } },
    });
    expect(Object.keys(result)).toEqual(expect.arrayContaining(['commit', 'versions', 'machine', 'date', 'seconds']));
    expect(result.versions).toMatchObject({ node: process.versions.node, '@coplay/core': '0.1.0' });
    expect(result.machine.cores).toBeGreaterThan(0);

    expect(JSON.parse(read(join(results, 'toy.json')))).toEqual(result);
    expect(readdirSync(results).sort()).toEqual(['toy-seeds.png', 'toy-seeds.svg', 'toy.json', 'toy.md']);
    expect(read(join(results, 'toy.md')).match(/^# toy|^## Bars|^## Seeds|toy-seeds\.svg/gm)).toHaveLength(4);
    expect(readdirSync(join(out, 'raw')).sort()).toEqual([
      'own-weights-seed-1',
      'own-weights-seed-1.json',
      'own-weights-seed-2',
      'own-weights-seed-2.json',
      'own-weights-seed-3',
      'own-weights-seed-3.json',
      'rows.json',
    ]);
    expect(read(join(out, 'raw/own-weights-seed-2/log.jsonl'))).toContain('"episode/return_mean":2');
  });
});

describe('a study with a bar that does not hold', () => {
  it('ends with 1 and still writes its results', { tags: ['slow'] }, () => {
    const { status, result, results } = study(['toy', '--seeds', '4', '--weights', '1,-1']);
    expect(status).toBe(1);
    expect(result.bars).toMatchObject({ sum: { value: -2, verdict: 'does not hold' }, largest: { verdict: 'holds' } });
    expect(JSON.parse(read(join(results, 'toy.json'))).settings.seeds).toBe(4);
  });
});

describe('a study that was not run as a whole', () => {
  it('says that its bars are missing and ends with 1; results of the whole stay where they are', {
    tags: ['slow'],
  }, () => {
    const few = study(['toy', '--seeds', '2']);
    expect(few.status).toBe(1);
    expect(few.result.bars).toMatchObject({ sum: { value: 3, verdict: 'missing' }, largest: { verdict: 'missing' } });
    expect(few.stderr).toContain('all bars are missing: seeds are 1 to 2, by default 1 to 3');
    expect(read(join(few.results, 'toy.md'))).toContain('**All bars are missing**: seeds are 1 to 2');
    expect(study(['toy'], few).status).toBe(0);
    expect(study(['toy', '--seeds', '2'], few).status).toBe(1);
    expect(JSON.parse(read(join(few.results, 'toy.json'))).settings.seeds).toBe(3);
  });

  it('keeps results of other seeds away from those of the first', { tags: ['slow'] }, () => {
    const { status, result, results, out } = study(['toy', '--first-seed', '11', '--seeds', '2']);
    expect(status).toBe(1);
    expect(result).toMatchObject({ settings: { firstSeed: 11, seeds: 2 }, bars: { sum: { value: 23 } } });
    expect(existsSync(results)).toBe(false);
    expect(existsSync(join(out, 'toy.json'))).toBe(true);
  });

  it('counts no bar as held that comes from uncommitted changes', { tags: ['slow'] }, () => {
    const { status, result, results } = study(['toy'], { commit: 'abc+' });
    expect(status).toBe(1);
    expect(result.bars).toMatchObject({ sum: { value: 6, verdict: 'missing' } });
    expect(read(join(results, 'toy.md'))).toContain('**All bars are missing**: uncommitted changes at abc.');
  });
});

describe('--quick', () => {
  it('judges nothing, ends with 0 and leaves committed results alone', { tags: ['slow'] }, () => {
    const { status, result, results, out } = study(['toy', '--quick', '--factor', '0']);
    expect(status).toBe(0);
    expect(result.settings).toMatchObject({ quick: true, seeds: 2 });
    expect(result.bars.sum).toMatchObject({ value: 0, bar: 6, verdict: 'not judged' });
    expect(existsSync(results)).toBe(false);
    expect(existsSync(join(out, 'toy.json'))).toBe(true);
  });
});

describe('--resume', () => {
  it('goes on after a kill: finished seeds are not done again, and all comes out as without the kill', {
    tags: ['slow'],
  }, () => {
    const killed = study(['toy'], { killAt: '3' });
    expect(killed.signal).toBe('SIGKILL');
    const { status, stderr, result, results, out } = study(['toy', '--resume'], { place: killed.place, commit: 'def' });
    expect(status).toBe(0);
    expect(stderr.match(/seed \d of 1 to 3: was finished before, at commit abc/g)).toHaveLength(2);
    expect(result).toMatchObject({ commit: 'def', otherCommits: { abc: ['own weights: 1, 2'] }, leftOut: [] });
    expect(read(join(results, 'toy.md'))).toContain('Seeds from a run at commit abc: own weights: 1, 2.');
    expect(result.figures.values).toEqual([1, 2, 3].map((value) => ({ value, missing: null })));
    expect(read(join(out, 'raw/own-weights-seed-1/seeds-done.txt'))).toBe('1 false\n');
    expect(read(join(out, 'raw/own-weights-seed-3/seeds-done.txt'))).toBe('3 true\n');
  });
});

describe('a study that throws', () => {
  it('ends with 2, without a RESULT', { tags: ['slow'] }, () => {
    const { status, stderr, stdout } = study(['broken']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/the experiment went wrong(.|\n)*broken\.ts/);
    expect(stdout).not.toContain('RESULT');
  });
});
