import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMoaBuffer } from '@coplay/buffers';
import { type Recording, readRecording } from '@coplay/envs';
import { createTable, gameOfRecording, onnxAgent, recordedExperience } from '@coplay/viewer';
import { runCommand } from 'coplay';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, chromiumPath, startChromium } from './chromium';

const chromium = chromiumPath();
if (chromium === undefined) console.log('Skipped: there is no Chromium (apt-get install chromium).');

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const folder = mkdtempSync(join(tmpdir(), 'coplay-play-'));
const CONFIGURATION = {
  game: { name: 'stag-hunt', size: 4, agents: 3, stags: 1, hares: 3, maxSteps: 12 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [16] } },
  seats: { agent_2: { kind: 'nearest-stag' } },
  envs: 8,
  steps: 16,
  envSteps: 512,
  log: [],
};

/** `coplay play` as somebody starts it. */
async function served(args: readonly string[]): Promise<{ readonly url: string; end(): Promise<number> }> {
  const controller = new AbortController();
  let ended: Promise<number> = Promise.resolve(0);
  const url = await new Promise<string>((resolve, reject) => {
    const lines: string[] = [];
    const terminal = { out: resolve, err: (line: string) => void lines.push(line), interrupt: () => controller.signal };
    ended = runCommand(['play', ...args, '--port', '0'], terminal);
    void ended.then((code) => reject(new Error(`It ended with ${code}: ${lines.join('\n')}`)));
  });
  return {
    url,
    async end() {
      controller.abort();
      return ended;
    },
  };
}

/** Where things are on the board, as the picture says it in words. Rows and columns from 1. */
async function places(page: Page): Promise<{ what: string; row: number; column: number }[]> {
  const words = (await page.locator('.board svg desc').textContent()) ?? '';
  return [...words.matchAll(/([a-z]+(?: \d+)?) in row (\d+), column (\d+)/g)].map(([, what, row, column]) => {
    return { what: what!, row: Number(row), column: Number(column) };
  });
}

/** The key of a first step from somebody to the nearest hare of a board without obstacles. */
async function keyToHare(page: Page, me: string): Promise<string> {
  const all = await places(page);
  const { row, column } = all.find(({ what }) => what === me)!;
  const distance = (other: { row: number; column: number }) =>
    Math.abs(other.row - row) + Math.abs(other.column - column);
  const [hare] = all.filter(({ what }) => what === 'hare').sort((a, b) => distance(a) - distance(b));
  if (!hare) return 'Space';
  if (distance(hare) === 0) return 'h';
  if (hare.row !== row) return hare.row > row ? 'ArrowDown' : 'ArrowUp';
  return hare.column > column ? 'ArrowRight' : 'ArrowLeft';
}

const status = (page: Page) => page.locator('.status[role=status]').textContent();
const isEnd = (told: string) => / after \d+ steps?\. /.test(told);
const isOver = async (page: Page) => isEnd((await status(page)) ?? '');

/** Goes for hares by keys until the game is over. @returns how many keys were pressed */
async function playByKeys(page: Page, me: string): Promise<number> {
  let pressed = 0;
  for (;;) {
    const told = (await status(page)) ?? ''; // read once: the game may end at any time
    if (isEnd(told)) return pressed;
    if (told.includes('Your turn')) {
      await page.keyboard.press(await keyToHare(page, me));
      pressed++;
    }
    await expect.poll(() => status(page)).not.toBe(told);
  }
}

/** The record of the newest game, as the page saves it. */
async function savedGame(page: Page): Promise<Recording> {
  const downloading = page.waitForEvent('download');
  await page
    .getByRole('button', { name: /^Save game/ })
    .first()
    .click();
  const path = join(folder, `${Math.abs(await page.evaluate('performance.now()')) | 0}.coplay`);
  await (await downloading).saveAs(path);
  return readRecording(path);
}

describe.runIf(chromium !== undefined)('playing in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromium!);
  });
  afterAll(() => browser?.close());

  it('a game is played to its end by keys against trained agents, and its record is experience with the same rewards', async () => {
    const configuration = join(folder, 'run.json');
    writeFileSync(configuration, JSON.stringify(CONFIGURATION));
    const run = join(folder, 'run');
    const silent = { out: () => {}, err: () => {}, interrupt: () => new AbortController().signal };
    expect(await runCommand(['train', configuration, '--directory', run], silent)).toBe(0);
    const { url, end } = await served([run]);
    const { page, complaints } = await browser.open(url);
    await page.getByLabel('My seat').selectOption('agent_2');
    await page.getByLabel('Seed of the game').fill('5');
    await page.getByLabel('A step without me takes').selectOption('0');
    await page.getByRole('button', { name: 'New table' }).click();
    await expect.poll(() => status(page)).toMatch(/^Step 1 of at most 12\. Your turn\./);
    expect(await page.locator('.table tbody tr').allTextContents()).toEqual([
      '1 agent_0PPO after 512 steps0',
      '2 agent_1PPO after 512 steps0',
      '3 youa person0',
    ]);
    expect(await playByKeys(page, 'agent 3')).toBeGreaterThan(0);
    expect(complaints).toEqual([]);

    const recording = await savedGame(page);
    expect(recording.players).toEqual(['PPO after 512 steps', 'PPO after 512 steps', 'Person']);
    const returns = recording.agents.map((_, i) => recording.steps.reduce((sum, { rewards }) => sum + rewards[i]!, 0));
    const shown = await page.locator('.table tbody tr td:last-child').allTextContents();
    expect(shown.map(Number)).toEqual(returns.map((sum) => Number(sum.toFixed(2))));

    const game = gameOfRecording(recording);
    const experience = await recordedExperience(game, recording);
    expect([...experience.rewards]).toEqual(recording.steps.flatMap(({ rewards }) => rewards));
    expect([...experience.isImagined]).toEqual([0]);
    const buffer = createMoaBuffer({ coPlayers: ['agent_2'], goals: game.goals });
    const { agent_2: rows } = buffer.push(experience);
    const own = recording.steps.map(({ actions }) => actions[2]).filter((action) => action !== null);
    expect([...rows!['actions']!.data]).toEqual(own);

    // The same files, played by ONNX Runtime in Node, do the same in the same game.
    const others = await Promise.all(
      ['agent_0', 'agent_1'].map(async (id) => {
        const files = [...(await page.locator('#coplay-play').textContent())!.matchAll(/models\/\d+\.onnx/g)];
        const file = await fetch(new URL(files[id === 'agent_0' ? 0 : 1]![0], url));
        const session = await InferenceSession.create(new Uint8Array(await file.arrayBuffer()));
        return onnxAgent({ game, id, session, Tensor, name: 'PPO after 512 steps' });
      }),
    );
    const decide = ({ step }: { step: number }) => (recording.steps[step]!.actions[2] as number | null) ?? 0;
    const again = await createTable({ game, person: 'agent_2', others, decide }).play({ seed: 5 });
    expect(again.steps.map(({ actions }) => actions)).toEqual(recording.steps.map(({ actions }) => actions));
    await page.close();
    expect(await end()).toBe(0);
  });

  it('a game is played by touch on a phone, with beliefs, and the next one too', async () => {
    const { url, end } = await served([]);
    const { page, complaints } = await browser.open(url);
    await page.setViewportSize({ width: 390, height: 844 });
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    const touch = async (name: string) => {
      const button = page.getByRole('button', { name, exact: false }).first();
      await button.scrollIntoViewIfNeeded();
      const box = (await button.boundingBox())!;
      expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
      const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    await page.getByRole('combobox', { name: 'Game' }).selectOption({ label: 'Snowdrift, 5x5' });
    await page.getByLabel('Show beliefs').check();
    await touch('New table');
    for (let game = 0; game < 2; game++) {
      await expect.poll(() => status(page)).toMatch(/^Step 1 of at most 50\. Your turn\./);
      expect(await page.locator('.beliefs h3').allTextContents()).toEqual([
        '2 agent_1, NearestDrift',
        '3 agent_2, NearestDrift',
      ]);
      expect(await page.locator('.beliefs p').first().textContent()).toMatch(
        /^(drift in row \d, column \d|won't shovel again) \d+ %/,
      );
      while (!(await isOver(page))) {
        const told = await status(page);
        await touch('stay');
        await expect.poll(() => status(page)).not.toBe(told);
      }
      // An agent that lets the others shovel is paid as well: 6 for each of 4 drifts.
      expect(await status(page)).toMatch(/^The game is over after \d+ steps\. You earned 24\.$/);
      if (game === 0) await touch('Next game');
    }
    await expect.poll(() => page.locator('.games li').count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.close();
    expect(await end()).toBe(0);
  });

  it('refuses an illegal move in words, leaves keys to the form, and begins a new table at any time', async () => {
    const { url, end } = await served([]);
    const { page, complaints } = await browser.open(url);
    await page.getByLabel('Seed of the game').fill('3');
    await page.getByRole('button', { name: 'New table' }).click();
    await expect.poll(() => status(page)).toMatch(/^Step 1 /);
    await page.keyboard.press('s'); // there is no stag on the cell
    await expect.poll(() => status(page)).toBe("You can't hunt stag here.");
    await page.getByLabel('Seed of the game').focus();
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => page.getByLabel('Seed of the game').inputValue()).toBe('5'); // the next game's was 4
    await page.getByRole('button', { name: 'New table' }).click();
    await expect.poll(() => status(page)).toMatch(/^Step 1 .*Your turn/);
    await expect.poll(() => page.locator('.table').count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.close();
    expect(await end()).toBe(0);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious, and nothing overflows: %s, %i pixels', async (colorScheme, width) => {
    const { url, end } = await served([]);
    const { page } = await browser.open(url);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    await page.getByLabel('Show beliefs').check();
    await page.getByRole('button', { name: 'New table' }).click();
    await expect.poll(() => status(page)).toMatch(/^Step 1 /);
    await page.keyboard.press('Space');
    await expect.poll(() => status(page)).toMatch(/^Step 2 /);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.evaluate(readFileSync(AXE, 'utf8'));
    const found = (await page.evaluate('axe.run()')) as {
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    };
    const serious = found.violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
    expect(serious.map(({ id, nodes }) => [id, nodes[0]!.html])).toEqual([]);
    await page.close();
    expect(await end()).toBe(0);
  });
});
