/**
 * Pictures of a report, for docs/: writes report-wide.png (1280 pixels) and report-phone.png (390 pixels, dark) of the
 * top of the page. With Chromium: CHROME_PATH, or where Debian puts it.
 *
 *   node --conditions=@coplay/source --import tsx scripts/report-screenshots.ts RUN... [--out DIR]
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { writeReport } from '@coplay/diagnostics';
import { chromiumPath, startChromium } from '../test/browser/chromium';

/** Milliseconds for each step: the machine may be busy with training. */
const PATIENCE = 300_000;
const SHOTS = [
  { name: 'report-phone', width: 390, height: 1900, colorScheme: 'dark' },
  { name: 'report-wide', width: 1280, height: 1640, colorScheme: 'light' },
] as const;

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: 'docs' } },
  allowPositionals: true,
});
const chromium = chromiumPath();
if (positionals.length === 0 || chromium === undefined) {
  console.error(
    chromium === undefined
      ? 'There is no Chromium: apt-get install chromium, or set CHROME_PATH.'
      : 'Give directories of runs: scripts/report-screenshots.ts runs/a runs/b',
  );
  process.exit(2);
}
const file = join(positionals[0], 'report.html');
writeReport(file, positionals);
const browser = await startChromium(chromium);
for (const { name, width, height, colorScheme } of SHOTS) {
  const { page } = await browser.open('about:blank');
  page.setDefaultTimeout(PATIENCE);
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height });
  await page.goto(pathToFileURL(file).href);
  await page.locator('path[data-curve]').first().waitFor();
  await page.screenshot({ path: join(values.out, `${name}.png`) });
  await page.close();
}
await browser.close();
