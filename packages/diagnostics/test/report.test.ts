import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addToReport,
  distributionOf,
  findProblems,
  moaEvaluation,
  readRun,
  report,
  writeReport,
} from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { type WrittenRun, writeRuns } from './report-runs';

/** A run in which nothing is wrong: returns rise to 4, the critic's error falls from 9. */
const SOUND = (u: number) => ({
  'episode/return/agent_0': 0.08 * (u + 1),
  'episode/return/agent_1': 0.08 * (u + 1),
  'episode/return_mean': 0.08 * (u + 1),
  'reward/max': 4,
  'agent_0/value/mse': 9 / (1 + u),
  'agent_1/value/mse': 9 / (1 + u),
  'value/mse': 9 / (1 + u),
  'policy/entropy': 1.5 - 0.01 * u,
  'policy/approx_kl': 0.01,
  'world_model/accuracy': 0.95,
  'world_model/accuracy_by_outcome': 0.9,
  'omg/vae_kl': 2,
  'omg/explained_variance': 0.5,
  'imagined/reward_max': 4,
});

const dataOf = (page: string) =>
  JSON.parse(/<script type="application\/json" id="coplay-data">(.*?)<\/script>/s.exec(page)![1]) as {
    runs: { name: string; group: number; steps: number[] }[];
    groups: { label: string; runs: number[] }[];
    metrics: { key: string; series: Series[] }[];
    beliefs: { title: string }[];
  };
interface Series {
  readonly group: number;
  readonly agent: string;
  readonly line: { readonly x: string; readonly y: string; readonly lower?: string };
  readonly curves: readonly { readonly run: number; readonly at: string; readonly values: string }[];
}
const bytes = (packed: string) => Uint8Array.from(Buffer.from(packed, 'base64')).buffer;
const floats = (packed: string) => [...new Float32Array(bytes(packed))];
const places = (packed: string) => [...new Uint16Array(bytes(packed))];

describe('report', () => {
  it('holds every curve exactly where it has 500 points or fewer', () => {
    const [directory] = writeRuns([{ metrics: SOUND }]);
    const { runs, metrics } = dataOf(report([directory]));
    const { series } = metrics.find(({ key }) => key === 'value/mse')!;
    expect(series.map(({ agent }) => agent)).toEqual(['', 'agent_0', 'agent_1']);
    const [{ at, values }] = series[1].curves;
    expect(places(at).map((place) => runs[0].steps[place])).toEqual(
      Array.from({ length: 50 }, (_, u) => 100 * (u + 1)),
    );
    expect(floats(values)).toEqual(Array.from({ length: 50 }, (_, u) => Math.fround(9 / (1 + u))));
  });

  it('keeps 500 points of a longer one, its spike among them, and its steps', () => {
    const [directory] = writeRuns([{ updates: 5000, metrics: (u) => ({ 'a/b': u === 3333 ? 99 : u % 7 }) }]);
    const { runs, metrics } = dataOf(report([directory]));
    const [{ at, values }] = metrics[0].series[0].curves;
    expect(floats(values).length).toBeLessThanOrEqual(500);
    const spike = floats(values).indexOf(99);
    // Steps are kept for every third update: within two updates of 100 steps.
    expect(Math.abs(runs[0].steps[places(at)[spike]] - 333_400)).toBeLessThanOrEqual(200);
  });

  it('joins seeds in one band and keeps other settings apart', () => {
    const at = (name: string, seed: number, gamma: number, level: number): WrittenRun => {
      return { name, seed, gamma, metrics: () => ({ 'value/mean': level }) };
    };
    const { groups, metrics } = dataOf(
      report(writeRuns([at('a-1', 1, 0.9, 1), at('b-1', 1, 0.5, 7), at('a-2', 2, 0.9, 3)])),
    );
    expect(groups).toEqual([
      { label: 'a', runs: [0, 2] },
      { label: 'b-1', runs: [1] },
    ]);
    const [a, b] = metrics[0].series;
    expect(floats(a.line.y)[0]).toBe(2); // the mean of 1 and 3
    expect(floats(a.line.lower!)[0]).toBe(1); // a quarter of the resamples are 1 and 1
    expect(b.line.lower).toBeUndefined();
    expect(a.curves.map(({ run }) => run)).toEqual([0, 2]);
  });

  it('tells settings that differ, and escapes what it is given', () => {
    const page = report(
      writeRuns([
        { gamma: 0.9, metrics: SOUND },
        { gamma: 0.5, metrics: SOUND },
      ]),
      { title: '</title><script>alert(1)</script>' },
    );
    expect(page).toContain('<code>learners.agent_0.gamma</code></th><td>0.9</td><td>0.5</td>');
    expect(page).toContain('a &lt;game&gt;');
    expect(page.match(/<script/g)!.length).toBe(2);
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('shows a panel with its explanation for every metric, and of a metric of your own that it has none', () => {
    const [directory] = writeRuns([{ metrics: (u) => ({ ...SOUND(u), 'my/own': u }) }]);
    const page = report([directory]);
    expect(page).toContain('data-listed data-metric="value/mse"');
    expect(page).toContain('without a factor: comparable between settings');
    expect(page).toMatch(/data-metric="my\/own"><h4><code>my\/own<\/code><\/h4><p class="what">Not in docs/);
    for (const { key } of dataOf(page).metrics) expect(page).toContain(`id="metric-${key}"`);
  });

  it('shows what was added: distributions, evaluations, beliefs, tables', () => {
    const [directory] = writeRuns([{ metrics: SOUND }]);
    const reward = { real: distributionOf([0, 1, 1]), imagined: distributionOf([]) };
    const line = { steps: [0, 1], belief: [0.5, Number.NaN], switches: [1] };
    const none = { real: distributionOf([]), imagined: distributionOf([]) };
    addToReport(directory, {
      distributions: { reward, none },
      tables: { 'world model': [{ model: 'cells', mse: 0.5 }] },
      heatMaps: {
        'cross-play': {
          rows: ['us', 'them'],
          columns: ['us', 'them'],
          values: [
            [3, 1],
            [2, Number.NaN],
          ],
        },
      },
    });
    addToReport(directory, { beliefs: { 'P(stag)': { agent_1: line } } });
    const page = report([directory]);
    expect(page).toContain('<h4>reward</h4>');
    expect(page.match(/class="bar-real /g)!.length).toBe(20);
    expect(page).toContain('<h4>none</h4><p>There were none');
    expect(page).toContain('<th scope="row">cells</th><td>0.500</td>');
    // The greatest value is the darkest, the least the lightest; what is no number has no colour.
    const shades = [...page.matchAll(/<rect class="f0" [^>]*fill-opacity="([\d.]+)"/g)].map(([, shade]) => shade);
    expect(shades).toEqual(['0.60', '0.10', '0.35', '0']);
    expect(page).toContain('<th scope="row">2 them</th><td>2</td>');
    expect(dataOf(page).beliefs.map(({ title }) => title)).toEqual(['P(stag)']);
    expect(() => addToReport(directory, { moa: { x: 1 as never } })).toThrow(/addToReport: option moa.x/);
  });

  it('is written at once, and says what it needs', () => {
    const [directory] = writeRuns([{ metrics: SOUND }]);
    writeReport(join(directory, 'report.html'), [readRun(directory)]);
    expect(readFileSync(join(directory, 'report.html'), 'utf8')).toMatch(/^<!doctype html>.*<\/html>\n$/s);
    expect(() => report([])).toThrow(/report: expected one run or more/);
    expect(() => report(['nowhere'])).toThrow(/run directory with config.json, got nowhere/);
    expect(() => report([directory], { titel: 'x' } as object)).toThrow(/unknown option "titel"/);
  });
});

describe('findProblems', () => {
  /** The checks that find something when these metrics take the place of the sound ones. */
  const checksOf = (...changes: ((u: number) => Record<string, number>)[]) => {
    const runs = changes.map((change, i) => ({ seed: i, metrics: (u: number) => ({ ...SOUND(u), ...change(u) }) }));
    return findProblems(writeRuns(runs).map((directory) => readRun(directory)));
  };

  it('finds nothing in a sound run', () => {
    expect(checksOf(() => ({}))).toEqual([]);
  });

  it.each<[string, string, (u: number) => Record<string, number>]>([
    // Returns are 4 at most, so that 16 is what a critic near 0 has: 1.5 times that is 24.
    ['inflated-critic', 'fault', (u) => ({ 'agent_1/value/mse': u < 20 ? 9 : 25 })],
    ['inflated-critic', 'warning', () => ({ 'imagined/value_mse': 25 })],
    // In four of five updates; three of four may be.
    ['invented-rewards', 'warning', (u) => ({ 'imagined/reward_max': u % 5 < 4 ? 4.5 : 4 })],
    // Three times what real steps pay is allowed.
    ['invented-rewards', 'warning', () => ({ 'imagined/reward_mean': 0.31, 'reward/mean': 0.1 })],
    ['rare-outcomes', 'warning', () => ({ 'world_model/accuracy_by_outcome': 0.84 })],
    ['unused-model', 'warning', () => ({ 'imagined/horizon': 0 })],
    ['unused-model', 'warning', () => ({ 'search/share': 0 })],
    ['unused-model', 'warning', () => ({ 'hop/simulations': 0 })],
    ['stale-subgoals', 'warning', () => ({ 'omg/vae_kl': 0.001 })],
    ['stale-subgoals', 'warning', () => ({ 'omg/explained_variance': 0.01 })],
    ['large-updates', 'warning', () => ({ 'policy/approx_kl': 0.06 })],
    // A quarter of 1.5 is 0.375, and a third of the run 17 updates.
    ['early-entropy', 'warning', (u) => ({ 'policy/entropy': u < 10 ? 1.5 : 0.37 })],
    ['not-finite', 'fault', (u) => ({ 'policy/skipped': u === 7 ? 1 : 0 })],
    ['not-finite', 'fault', (u) => ({ 'opt/skipped': u === 7 ? 0.25 : 0 })],
    ['unequal-agents', 'note', (u) => ({ 'episode/return/agent_1': 0.05 * u })],
  ])('finds %s (%s)', (check, level, change) => {
    const found = checksOf(change);
    expect(found.map((one) => [one.check, one.level])).toEqual([[check, level]]);
    expect(found[0].command).toMatch(/^npm /);
    expect(found[0].advice.length).toBeGreaterThan(40);
  });

  it.each<[string, (u: number) => Record<string, number>]>([
    ['an error just below the bound', () => ({ 'agent_1/value/mse': 23 })],
    ['one odd update', (u) => ({ 'agent_1/value/mse': u === 30 ? 40 : 5 })],
    ['a small gap', () => ({ 'world_model/accuracy_by_outcome': 0.86 })],
    ['imagination that begins late', (u) => ({ 'imagined/horizon': u < 49 ? 0 : 8 })],
    ['impossible rewards now and then', (u) => ({ 'imagined/reward_max': u % 2 === 0 ? 4.5 : 4 })],
    ['imagined steps that pay a little more', () => ({ 'imagined/reward_mean': 0.29, 'reward/mean': 0.1 })],
    ['agents that differ a little', (u) => ({ 'episode/return/agent_1': 0.075 * u })],
    ['an entropy that falls late', (u) => ({ 'policy/entropy': u < 25 ? 1.5 : 0.05 })],
    ['an entropy that falls a little', (u) => ({ 'policy/entropy': u < 10 ? 1.5 : 0.38 })],
    ['an entropy that rises', (u) => ({ 'policy/entropy': Math.min(1.5, 0.02 + 0.1 * u) })],
    ['an entropy of 0 in one odd update', (u) => ({ 'policy/entropy': u === 7 ? 0 : 1.5 })],
    [
      'an entropy of 0 in updates without a step',
      (u) => ({ 'policy/entropy': u % 10 < 8 && u > 5 ? 0 : 1.5, 'policy/steps': u % 10 < 8 && u > 5 ? 0 : 8 }),
    ],
  ])('says nothing of %s', (_, change) => {
    expect(checksOf(change)).toEqual([]);
  });

  it('tells only of what was logged', () => {
    const [found] = checksOf(() => ({ 'policy/approx_kl': 0.06 }));
    expect(found.finding).toBe('Over the last fifth policy/approx_kl is 0.06 nats (up to 0.05 is usual).');
  });

  it('judges runs with more updates than a call takes arguments', { tags: ['slow'] }, () => {
    const [directory] = writeRuns([{ metrics: () => ({}) }]);
    const run = readRun(directory);
    const long = Array.from({ length: 200_000 }, (_, i) => ({
      ...run.entries[0],
      update: i,
      envSteps: i,
      metrics: { 'reward/max': 4, 'imagined/reward_max': 5 },
    }));
    expect(findProblems([{ ...run, entries: long }]).map((one) => one.check)).toEqual(['invented-rewards']);
  });

  it.each([
    ['invented-rewards', { 'imagined/reward_max': 4.5 }],
    ['stale-subgoals', { 'omg/explained_variance': 0.01 }],
  ])('does not judge %s before 30 updates have its figures', (check, change) => {
    const checks = (updates: number) => {
      const [directory] = writeRuns([{ updates, metrics: (u) => ({ ...SOUND(u), ...change }) }]);
      return findProblems([readRun(directory)]).map((one) => one.check);
    };
    expect(checks(29)).toEqual([]);
    expect(checks(30)).toEqual([check]);
  });

  it('calls agents unequal over seeds where one always earns more, and not where they take turns', () => {
    // Seven or more seeds of two agents: the least p is 2 / 2^8 < 0.01.
    const better = (u: number) => ({ 'episode/return/agent_0': 0.09 * (u + 1) });
    const seeds = Array.from({ length: 8 }, (_, seed) => (u: number) => ({ ...better(u), 'value/mean': seed }));
    const [found] = checksOf(...seeds);
    expect([found.check, found.level, found.runs.length]).toEqual(['unequal-agents', 'fault', 8]);
    expect(found.finding).toContain('Agents are not equal');
    const turns = seeds.map((_, i) =>
      i % 2 === 0 ? better : (u: number) => ({ 'episode/return/agent_1': 0.09 * (u + 1) }),
    );
    expect(checksOf(...turns)).toEqual([]);
    // A run that was cut before anybody but one had an end doesn't keep the others from being judged.
    const cut = writeRuns([
      { seed: 9, metrics: () => ({ 'episode/return/agent_0': 1 }) },
      ...seeds.map((change, seed) => ({ seed, metrics: (u: number) => ({ ...SOUND(u), ...change(u) }) })),
    ]);
    const [judged] = findProblems(cut.map((directory) => readRun(directory)));
    expect([judged.check, judged.level, judged.runs.length]).toEqual(['unequal-agents', 'fault', 8]);
  });

  it('tells one thing about several runs once', () => {
    const large = () => ({ 'policy/approx_kl': 0.06 });
    const found = checksOf(large, large, large, large);
    expect(found.length).toBe(1);
    expect(found[0].runs).toEqual(['run-1', 'run-2', 'run-3', 'run-4']);
    expect(found[0].finding).toContain('The same in 1 more.');
  });

  it('finds a class that a model never predicts, of the evaluations next to the log', () => {
    const [directory] = writeRuns([{ metrics: SOUND }]);
    // 3 of 4 stay, 1 of 4 hunts; the model always says stay.
    const scores = Float32Array.of(0.9, 0.1, 0, 0.9, 0.1, 0, 0.9, 0.1, 0, 0.9, 0.1, 0);
    const labels = Int32Array.of(0, 0, 0, 1);
    addToReport(directory, {
      moa: { 'agent_0 about agent_1': moaEvaluation({ classes: ['stay', 'hunt', 'wait'], scores, labels }) },
    });
    const found = findProblems([readRun(directory)]);
    expect(found.map(({ check }) => check)).toEqual(['collapsed-class']);
    expect(found[0].finding).toContain('never predicts hunt (25 % of the actions): recall 0');
    expect(report([directory])).toContain('A model of another agent has collapsed classes');
  });
});
