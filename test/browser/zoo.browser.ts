import { evaluate } from '@coplay/core';
import { zoo } from '@coplay/zoo';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundle';
import { type Browser, chromiumPath, type OpenPage, startChromium } from './chromium';
import { type Served, serve } from './serve';

const EPISODES = 16;
const HTML = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
const chromium = chromiumPath();
if (chromium === undefined) console.log('Skipped: there is no Chromium (apt-get install chromium).');

describe.runIf(chromium !== undefined)('agents of the zoo in a page', () => {
  let browser: Browser;
  let server: Served;
  let open: OpenPage;

  beforeAll(async () => {
    const { code } = await bundle('test/browser/zoo-page.ts');
    server = await serve({ files: { '/index.html': HTML, '/page.js': code }, folders: {} }, { isolated: false });
    browser = await startChromium(chromium!);
    open = await browser.open(server.origin);
    await open.page.waitForFunction('globalThis.play !== undefined');
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each(['matrix-stag-hunt/ppo', 'stag-hunt-4x4/ppo'])('play as in Node: %s', async (name) => {
    const inPage = (await open.page.evaluate(`play(${JSON.stringify(name)}, ${EPISODES})`)) as number[];
    const { game, agents, dispose } = await zoo(name);
    const { returns } = await evaluate(game, agents, { episodes: EPISODES, envs: 8, seed: 3 });
    dispose();
    // The same games and draws; where a probability is rounded otherwise, an action may differ, and its episode.
    const equal = inPage.filter((value, i) => value === returns[i]).length;
    expect(inPage).toHaveLength(returns.length);
    expect(equal).toBeGreaterThanOrEqual(0.75 * returns.length);
  });

  it('search in the page: stag-hunt-4x4/hop', async () => {
    const returns = (await open.page.evaluate(`play('stag-hunt-4x4/hop', ${EPISODES})`)) as number[];
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    expect(mean).toBeGreaterThan(2.4); // hares alone give 0.98; its card says 2.9
  });

  it('without a complaint', () => {
    expect(open.complaints).toEqual([]);
  });
});
