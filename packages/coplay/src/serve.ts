import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { CoplayError } from '@coplay/core';

/** A file of a server: its bytes, or what reads them. */
export type ServedFile = string | Uint8Array | (() => Promise<Uint8Array>);

/** A server that runs. */
export interface Server {
  /** `http://127.0.0.1:8000/` */
  readonly url: string;
  /** Ends it, also for pages that are open. */
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '/': 'text/html; charset=utf-8',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/**
 * Serves a few files, and nothing else.
 *
 * @param files  by path: `/`, `/models/0.onnx`
 * @param port   0 for any free one
 * @throws CoplayError where the address can't be had
 */
export async function serveFiles(files: ReadonlyMap<string, ServedFile>, host: string, port: number): Promise<Server> {
  const server = createServer(async ({ url = '/', method }, response) => {
    const path = url.split('?')[0];
    const file = files.get(path);
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(file === undefined ? 404 : 405, { 'Content-Type': 'text/plain' }).end();
      return;
    }
    try {
      const body = typeof file === 'function' ? await file() : file;
      const type = TYPES[path] ?? TYPES[extname(path)] ?? 'application/octet-stream';
      // Another run may be served at the same address next.
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(method === 'HEAD' ? '' : body);
    } catch {
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: given } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${given}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number): CoplayError {
  const taken = error.code === 'EADDRINUSE';
  const complaint = {
    where: taken || error.code === 'EACCES' ? '--port' : '--host',
    expected: 'an address that is free',
    got: taken ? `${host}:${port}, which is taken` : `${host}:${port} (${error.message})`,
    remedy: taken ? 'Choose another, or --port 0 for any.' : 'Choose another.',
  };
  return new CoplayError(complaint, { cause: error });
}
