import { join } from 'node:path';
import { root } from '../../scripts/lib/workspaces';
import type { Bundle } from './bundle';
import type { Browser } from './chromium';
import type { page as offered } from './page';
import { serve } from './serve';

type Offered = typeof offered;

/** The test's page, open. */
export interface Session {
  /** Calls a function of page.ts in the page. */
  call<Name extends keyof Offered>(
    name: Name,
    ...args: Parameters<Offered[Name]>
  ): Promise<Awaited<ReturnType<Offered[Name]>>>;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

const HTML = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';

/** Folders of npm packages that a page needs at run time. */
const folders = {
  '/ort/': join(root, 'node_modules/onnxruntime-web/dist'),
  '/tfjs/': join(root, 'node_modules/@tensorflow/tfjs-backend-wasm/dist'),
};

/** Serves and opens page.ts, cross-origin isolated or not. */
export async function openSession(
  browser: Browser,
  { code }: Bundle,
  options: { readonly isolated: boolean },
): Promise<Session> {
  const server = await serve({ files: { '/index.html': HTML, '/page.js': code }, folders }, options);
  const { page, complaints } = await browser.open(server.origin);
  await page.waitForFunction('globalThis.page !== undefined').catch((error: unknown) => {
    throw new Error(`The page didn't start: ${complaints.join('\n')}`, { cause: error });
  });
  return {
    complaints,
    call: (name, ...args) => page.evaluate(`page[${JSON.stringify(name)}](...${JSON.stringify(args)})`) as never,
    async close() {
      await page.close();
      await server.close();
    },
  };
}
