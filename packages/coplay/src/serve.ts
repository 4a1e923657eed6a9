import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
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

/** Names of this machine for itself, as a Host header has them. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** Addresses on which Node listens to every network. */
const EVERY_NETWORK = ['0.0.0.0', '::'];
/** With every answer: no other site may read it, frame it or guess its type. */
const HEADERS = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/**
 * Serves a few files, and nothing else. A request must name this server in its Host header: a page of another site,
 * whose name leads to this machine by now (DNS rebinding), is refused with 403.
 *
 * @param files  by path: `/`, `/models/0.onnx`
 * @param port   0 for any free one
 * @throws CoplayError where the address can't be had
 */
export async function serveFiles(files: ReadonlyMap<string, ServedFile>, host: string, port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { url = '/', method } = request;
    const refuse = (status: number, why = '') =>
      response.writeHead(status, { ...HEADERS, 'Content-Type': 'text/plain', Allow: 'GET, HEAD' }).end(why);
    const path = url.split('?')[0];
    const file = files.get(path);
    if (!namesServer(request, host)) {
      return void refuse(
        403,
        `The Host header doesn't name this server. Names: ${hostsOf(request, host).join(', ')}\n`,
      );
    }
    if (file === undefined) return void refuse(404);
    if (method !== 'GET' && method !== 'HEAD') return void refuse(405);
    try {
      const body = typeof file === 'function' ? await file() : file;
      const type = TYPES[path] ?? TYPES[extname(path)] ?? 'application/octet-stream';
      // Another run may be served at the same address next.
      const headers = { ...HEADERS, 'Content-Type': type, 'Cache-Control': 'no-store' };
      response.writeHead(200, headers).end(method === 'HEAD' ? '' : body);
    } catch {
      refuse(500);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: given } = server.address() as AddressInfo;
  return {
    url: `http://${inUrl(host)}:${given}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether the Host header of a request is one of {@link hostsOf}. */
function namesServer(request: IncomingMessage, host: string): boolean {
  const asked = request.headers.host?.toLowerCase();
  return asked !== undefined && hostsOf(request, host).includes(asked);
}

/**
 * Host headers of requests that are meant for this server: the names of this machine for itself, and the address that
 * was asked for. One that listens to every network is also asked for by the machine's name, and by the address at which
 * the request arrived.
 */
function hostsOf({ socket }: IncomingMessage, host: string): string[] {
  const everywhere = EVERY_NETWORK.includes(host) ? [hostname(), inUrl(arrivedAt(socket.localAddress))] : [];
  const names = [...new Set([...OWN_NAMES, inUrl(host), ...everywhere])].map((name) => name.toLowerCase());
  // Browsers leave out the port of http.
  return names.flatMap((name) => (socket.localPort === 80 ? [name, `${name}:80`] : [`${name}:${socket.localPort}`]));
}

/** An address without the mark of one of IPv4 that arrives where IPv6 is listened to. */
function arrivedAt(address = ''): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** An address as URLs have it. */
function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
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
