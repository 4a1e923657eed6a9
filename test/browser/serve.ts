import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

/** The content of a server: folders of files by the start of their path, and texts by path. */
export interface Content {
  /** `/ort/` -> a folder */
  readonly folders: Readonly<Record<string, string>>;
  /** `/page.js` -> its bytes */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

/** A server on this machine alone. */
export interface Served {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** With these, a page is cross-origin isolated, and may use threads. */
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Serves content on a free port of 127.0.0.1, with the headers that isolate pages or without. */
export async function serve(content: Content, { isolated }: { readonly isolated: boolean }): Promise<Served> {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = pathname === '/' ? '/index.html' : normalize(pathname);
    const headers = { 'Content-Type': TYPES[extname(path)] ?? 'text/plain', ...(isolated && ISOLATION) };
    const found = await find(content, path).catch(() => undefined);
    response.writeHead(found === undefined ? 404 : 200, headers).end(found);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { origin: `http://127.0.0.1:${port}`, close };
}

async function find({ files, folders }: Content, path: string): Promise<string | Uint8Array | undefined> {
  if (files[path] !== undefined) return files[path];
  for (const [start, folder] of Object.entries(folders)) {
    if (path.startsWith(start)) return readFile(join(folder, path.slice(start.length)));
  }
  return undefined;
}
