import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addToReport, jsonLines, type Run, report } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, chromiumPath, startChromium } from './chromium';
import { type Served, serve } from './serve';

const chromium = chromiumPath();
if (chromium === undefined) console.log('Skipped: there is no Chromium (apt-get install chromium).');

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const folder = mkdtempSync(join(tmpdir(), 'coplay-report-'));

/** A short real run of two agents, with a trace of beliefs. */
async function realRun(seed: number): Promise<string> {
  const directory = join(folder, `ppo-${seed}`);
  const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 8 });
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }) }));
  const run = selfPlay({ game, agents, envs: 4, steps: 16, seed, directory, log: [jsonLines(directory)] });
  await run.train({ envSteps: 192 });
  run.dispose();
  const trace = { steps: [0, 1, 2], belief: [0.5, 0.8, 0.9], switches: [1] };
  addToReport(directory, { beliefs: { 'P(stag)': { agent_1: trace } } });
  return directory;
}

/** A run of 2,000 updates with noise in 12 metrics of 2 learners and of both. */
function longRun(seed: number): Run {
  const learners = { agent_0: {}, agent_1: {} };
  const keys = Array.from({ length: 12 }, (_, k) => `group/metric_${k}`);
  const names = keys.flatMap((key) => [key, `agent_0/${key}`, `agent_1/${key}`]);
  const noise = (u: number, k: number) => Math.sin(u / 100) + Math.sin(seed * 7919 * (u + 1) * (k + 1));
  const entries = Array.from({ length: 2000 }, (_, u) => ({
    envSteps: 1024 * (u + 1),
    update: u + 1,
    metrics: Object.fromEntries(names.map((name, k) => [name, noise(u, k)])),
  }));
  return {
    directory: join(folder, `long-${seed}`),
    config: { seed, agents: learners, learners },
    versions: {},
    entries,
  };
}

describe.runIf(chromium !== undefined)('a report in Chromium', () => {
  let browser: Browser;
  let server: Served;

  beforeAll(async () => {
    const runs = [await realRun(1), await realRun(2)];
    const files = { '/one.html': report(runs.slice(0, 1)), '/two.html': report(runs), '/favicon.ico': '' };
    server = await serve({ files, folders: {} }, { isolated: false });
    browser = await startChromium(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('opens without a complaint and draws the curves of both agents, the bands of two seeds too', async () => {
    const { page, complaints } = await browser.open(`${server.origin}/one.html`);
    const curves = (metric: string) => page.locator(`#learning [data-metric="${metric}"] path[data-curve]`);
    await expect.poll(() => curves('value/mse').count()).toBe(2);
    // Both curves are drawn at once, so their shapes are there.
    const shapes = await curves('value/mse').evaluateAll((paths) => paths.map((path) => path.getAttribute('d')));
    expect(shapes.map((shape) => shape!.split('L').length)).toEqual([3, 3]); // three updates
    await page.locator('[data-beliefs="0"]').scrollIntoViewIfNeeded();
    await expect.poll(() => page.locator('[data-beliefs="0"] path[data-curve]').count()).toBe(1);
    const two = await browser.open(`${server.origin}/two.html`);
    const bands = two.page.locator('#learning [data-metric="value/mse"] path.band');
    await expect.poll(() => bands.count()).toBe(2);
    await two.page.locator('#apart').uncheck();
    await expect.poll(() => bands.count()).toBe(1);
    expect([...complaints, ...two.complaints]).toEqual([]);
    await page.close();
    await two.page.close();
  });

  it('finds metrics by words of their name or explanation', async () => {
    const { page, complaints } = await browser.open(`${server.origin}/one.html`);
    const shown = page.locator('[data-listed]:not([hidden]) h4');
    const all = await shown.count();
    await page.locator('#search').fill('norm gradient');
    await expect.poll(() => shown.allTextContents()).toEqual(['policy/gradient_norm']);
    await page.locator('#search').fill('nothing like that');
    await page.locator('#nothing').waitFor();
    await page.locator('#search').fill('');
    await expect.poll(() => shown.count()).toBe(all);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('is read by the keyboard: arrow keys move along a chart', async () => {
    const { page } = await browser.open(`${server.origin}/one.html`);
    const panel = page.locator('#learning [data-metric="value/mse"]');
    await panel.locator('.chart > svg').focus();
    await page.keyboard.press('Home');
    await expect.poll(() => panel.locator('.legend .step').textContent()).toBe('at step 64');
    await page.keyboard.press('ArrowRight'); // 2 % of 64 to 192
    await expect.poll(() => panel.locator('.legend .step').textContent()).toBe('at step 67');
    await page.keyboard.press('End');
    await expect.poll(() => panel.locator('.legend .step').textContent()).toBe('at step 192');
    await page.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious, and nothing overflows: %s, %i pixels', async (colorScheme, width) => {
    const { page } = await browser.open(`${server.origin}/two.html`);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => page.locator('path[data-curve]').count()).toBeGreaterThan(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.evaluate(readFileSync(AXE, 'utf8'));
    const found = (await page.evaluate('axe.run()')) as {
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    };
    const serious = found.violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
    expect(serious.map(({ id, nodes }) => [id, nodes[0].html])).toEqual([]);
    await page.close();
  });

  it('of 10 runs of 2,000 updates is under 10 MB, and opens without complaint', async () => {
    const long = report(Array.from({ length: 10 }, (_, i) => longRun(i + 1)));
    expect(long.length).toBeLessThan(10e6);
    const { origin, close } = await serve({ files: { '/long.html': long }, folders: {} }, { isolated: false });
    const { page, complaints } = await browser.open('about:blank');
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`${origin}/long.html`);
    await expect.poll(() => page.locator('path[data-curve]').count()).toBeGreaterThan(0);
    const { metrics } = await session.send('Performance.getMetrics');
    // Of the processor, so that other work on the machine doesn't count; said and not judged: machines differ.
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')!.value;
    console.log(
      `${(long.length / 1e6).toFixed(1)} MB, ${seconds.toFixed(2)} s of work to open (2 s at most are wanted)`,
    );
    expect(complaints.filter((line) => !line.startsWith('asked elsewhere'))).toEqual([]);
    await page.close();
    await close();
  });
});

it('axe is there', () => {
  expect(existsSync(AXE)).toBe(true);
});
