import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is: `CHROME_PATH` if that's set, else where Debian puts it; undefined if there's none. */
export function chromiumPath(): string | undefined {
  const asked = process.env['CHROME_PATH'];
  return (asked ? [asked] : PLACES).find((path) => existsSync(path));
}

/** A browser without a window, with a profile of its own that's removed at the end. */
export interface Browser {
  /** A page at an address, and what went wrong in it; it may talk to the server at this address only. */
  open(url: string): Promise<OpenPage>;
  close(): Promise<void>;
}

/** A page, and all that it complained of so far: errors, warnings, requests that failed or went elsewhere. */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Starts Chromium. */
export async function startChromium(executablePath: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'coplay-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [
      '--no-sandbox', // needed as root, as in containers
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    open: (url) => open(context, url),
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function open(context: BrowserContext, url: string): Promise<OpenPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console.${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => complaints.push(`request failed: ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'blob:' && origin !== new URL(url).origin) complaints.push(`asked elsewhere: ${request.url()}`);
  });
  await page.goto(url);
  return { page, complaints };
}
