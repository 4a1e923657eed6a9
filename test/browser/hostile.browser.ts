import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { report } from '@coplay/diagnostics';
import { nearestHare, type Recording, recordEpisode, stagHunt } from '@coplay/envs';
import { playPage, replayPage } from '@coplay/viewer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, chromiumPath, startChromium } from './chromium';
import { type Served, serve } from './serve';

const chromium = chromiumPath();
if (chromium === undefined) console.log('Skipped: there is no Chromium (apt-get install chromium).');

/** Ways to run a script where text is taken for HTML, an attribute, a script, a comment or an address. */
const ATTACKS = [
  '<img src=x onerror="globalThis.attacked=1">',
  '"><script>globalThis.attacked=2</script>',
  "' autofocus onfocus='globalThis.attacked=3",
  '</script><script>globalThis.attacked=4</script>',
  '<!--<script>globalThis.attacked=5',
  '</title></style></textarea><svg onload="globalThis.attacked=6">',
  'javascript:globalThis.attacked=7',
  '\u2028globalThis.attacked=8//',
  '`<iframe srcdoc="<script>parent.attacked=9</script>">`',
];
const [attack] = ATTACKS;
/** All of them in one text. */
const all = ATTACKS.join(' ');
const by = <T>(value: T): Record<string, T> => Object.fromEntries(ATTACKS.map((text) => [text, value]));

const folder = mkdtempSync(join(tmpdir(), 'coplay-hostile-'));

/** A run directory in which every text is an attack. */
function hostileRun(replays: object, name = 'run'): string {
  const directory = join(folder, `${name} ${attack!.replaceAll('/', '')}`);
  mkdirSync(directory, { recursive: true });
  const write = (file: string, value: unknown) => writeFileSync(join(directory, file), JSON.stringify(value));
  write('config.json', { seed: all, agents: by({ name: all }), learners: by({ kind: all }), game: { name: all } });
  write('versions.json', by(all));
  const metrics = Object.fromEntries([
    ...ATTACKS.flatMap((text) => [
      [text, 1],
      [`episode/return/${text}`, 1],
      [`${text}/policy/entropy`, 0],
      [`${text}/value/explained_variance`, -5],
    ]),
    ['episode/return_mean', 1],
  ]);
  const rows = [1, 2, 3].map((update) => JSON.stringify({ envSteps: 64 * update, update, ...metrics }));
  writeFileSync(join(directory, 'log.jsonl'), `${rows.join('\n')}\n`);
  const histogram = { edges: [0, 1, 2], counts: [1, 1] };
  const distribution = { count: 2, mean: 1, min: 0, max: 2, histogram };
  const moaClass = (name: string) => ({ name, count: 1, recall: 0.5, precision: 0.5, f1: 0.5, note: all });
  const evaluation = {
    ...{ count: 2, top1: 0.5, top3: 1, balancedAccuracy: 0.5 },
    classes: ATTACKS.map(moaClass),
    confusion: ATTACKS.map(() => ATTACKS.map(() => 1)),
  };
  write('report.json', {
    distributions: by({ real: distribution, imagined: distribution }),
    beliefs: by(by({ steps: [0, 1], belief: [0, 1], switches: [1] })),
    moa: by(evaluation),
    tables: by([by(all), by(3)]),
    replays,
  });
  return directory;
}

/** A whole recording whose texts are attacks. */
async function hostileEpisode(): Promise<Recording> {
  const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 6 });
  const players = game.agents.map((id) => nearestHare({ game, id }));
  const recording = await recordEpisode(game, players, { seed: 1, observations: true });
  const [a, b] = recording.agents;
  const text = JSON.stringify(recording, (key, value: unknown) => {
    if (key === 'game' || key === 'layout') return all;
    if (key === 'players') return [all, all];
    if (key === 'channels' || key === 'goals' || key === 'actionNames')
      return (value as string[]).map((_, i) => `${i} ${all}`);
    if (key === 'symbol') return value === '1' || value === '2' ? value : all;
    if (key === 'kind') return value === 'agent' ? value : all;
    return value;
  });
  const renamed = text
    .replaceAll(`"${a}"`, JSON.stringify(`1 ${all}`))
    .replaceAll(`"${b}"`, JSON.stringify(`2 ${all}`));
  return JSON.parse(renamed) as Recording;
}

describe.runIf(chromium !== undefined)("strangers' texts in Chromium", () => {
  let browser: Browser;
  let server: Served;

  beforeAll(async () => {
    const recording = await hostileEpisode();
    const textOnly = { ...recording, frames: recording.frames.map(({ scene: _, ...frame }) => frame) };
    // No whole recordings: numbers are texts, which a page must refuse by itself.
    const broken = {
      ...recording,
      frames: recording.frames.map((frame) => ({ ...frame, state: [all], scene: { ...frame.scene, rows: all } })),
    };
    const run = hostileRun(by(recording));
    const replays = await replayPage([recording, textOnly], { title: all });
    const packed = gzipSync(JSON.stringify(broken)).toString('base64');
    const files = {
      '/report.html': report([run, hostileRun({}, 'other')], { title: all }),
      '/broken.html': report([hostileRun({ broken }, 'broken')]),
      '/replays.html': replays,
      '/broken-replay.html': replays.replace(/(data-coplay-replay="[^"]*">)[^<]*/g, `$1${packed}`),
      '/play.html': playPage({
        settings: [
          {
            title: all,
            game: 'stag-hunt',
            options: { size: 3, agents: 2, stags: 1, hares: 1 },
            policies: [{ id: 'agent_1', name: all, url: 'javascript:globalThis.attacked=7' }],
          },
        ],
      }),
      '/attacked.html': `<!doctype html><p>${attack}</p>`,
      '/favicon.ico': '',
    };
    server = await serve({ files, folders: {} }, { isolated: false });
    browser = await startChromium(chromium!);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('the attacks work where nothing is escaped', async () => {
    const { page } = await browser.open(`${server.origin}/attacked.html`);
    await expect.poll(() => page.evaluate('globalThis.attacked')).toBe(1);
    await page.close();
  });

  it.each([
    ['report.html', '.coplay-replay'],
    ['broken.html', '.coplay-replays [role=alert]'],
    ['replays.html', '.coplay-replay'],
    ['broken-replay.html', '.coplay-replays [role=alert]'],
    ['play.html', 'form'],
  ])('%s shows them as text, runs nothing, and breaks no rule of its own policy', async (name, shown) => {
    const { page, complaints } = await browser.open(`${server.origin}/${name}`);
    await page.locator(shown).first().waitFor();
    // Also the parts that are drawn later: charts when they become visible, other episodes, the end of a replay, opened
    // details.
    for (const part of await page.locator('.panel').all()) await part.scrollIntoViewIfNeeded();
    for (const option of await page.locator('.coplay-episodes option').all()) {
      await page.locator('.coplay-episodes select').selectOption((await option.getAttribute('value'))!);
      await page.locator(shown).first().waitFor();
    }
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.keyboard.press('End');
    if (name === 'play.html') {
      await page.getByRole('button', { name: 'New table' }).click();
      await page.locator('[role=alert], .status').first().waitFor();
    }
    await expect.poll(() => page.content()).toContain('globalThis.attacked');
    expect(await page.evaluate('globalThis.attacked')).toBeUndefined();
    expect(await page.locator('img, iframe, [onerror], [onload], [onfocus], [href^="javascript:"]').count()).toBe(0);
    expect(complaints.filter((line) => /Content.Security|attacked/.test(line) && name !== 'play.html')).toEqual([]);
    await page.close();
  });

  it('a page runs no script but its own, even if one stood in it', async () => {
    const url = `${server.origin}/replays.html`;
    const { page, complaints } = await browser.open(url);
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(attack)})`);
    await expect.poll(() => complaints.join('\n')).toMatch(/Content.Security.Policy/);
    expect(await page.evaluate('globalThis.attacked')).toBeUndefined();
    await page.close();
  });
});
