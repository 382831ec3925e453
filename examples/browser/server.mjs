// @ts-check
/**
 * Serves the page, the built library and one trace, on this machine only:
 *
 *     node server.mjs [FILE.uscope] [--port N]
 *
 * The trace may still be growing. What matters to the reader is that parts of it are served: the header `range` of a request is answered
 * with status 206 and `content-range`.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const library = fileURLToPath(new URL('../../sdk/dist/', import.meta.url));
const demoTrace = fileURLToPath(new URL('../../verilator-demo/out/core0.uscope', import.meta.url));

const PAGE_FILES = new Set(['/index.html', '/app.js']);
const CONTENT_TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript'],
]);

/**
 * @param {{trace: string, port?: number}} options port 0, the default, takes any that is free
 * @returns {Promise<{url: string, close(): Promise<void>}>}
 */
export async function startServer({ trace, port = 0 }) {
  const server = createServer((request, response) => {
    const path = fileFor(new URL(request.url ?? '/', 'http://localhost').pathname, trace);
    if (path && existsSync(path) && statSync(path).isFile()) serve(path, request, response);
    else response.writeHead(404).end('no such file\n');
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {string} pathname
 * @param {string} trace
 * @returns {string | null} null for what is not served
 */
function fileFor(pathname, trace) {
  const name = normalize(decodeURI(pathname === '/' ? '/index.html' : pathname));
  if (name === '/trace.uscope') return trace;
  if (PAGE_FILES.has(name)) return join(here, name);
  // `normalize` has resolved every `..`: what begins with /sdk/ stays below it.
  return name.startsWith('/sdk/') ? join(library, name.slice('/sdk/'.length)) : null;
}

/**
 * @param {string} path
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function serve(path, request, response) {
  const { size, mtimeMs } = statSync(path);
  const etag = `"${size}-${mtimeMs}"`;
  response.setHeader('etag', etag);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('content-type', CONTENT_TYPES.get(extname(path)) ?? 'application/octet-stream');
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const isCurrent = (request.headers['if-range'] ?? etag) === etag;
  if (!range || !isCurrent) {
    response.writeHead(200, { 'content-length': size });
    createReadStream(path, { end: Math.max(0, size - 1) }).pipe(response);
    return;
  }
  const start = Number(range[1]);
  const end = Math.min(Number(range[2]), size - 1);
  if (start > end) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(206, {
    'content-range': `bytes ${start}-${end}/${size}`,
    'content-length': end - start + 1,
  });
  createReadStream(path, { start, end }).pipe(response);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { port: { type: 'string', default: '8080' } },
  });
  const trace = positionals[0] ?? demoTrace;
  if (!existsSync(trace)) {
    console.error(`there is no ${trace}: name a trace, or make that of the demo with npm run demo`);
    process.exitCode = 2;
    return;
  }
  const { url } = await startServer({ trace, port: Number(values.port) });
  console.log(`${trace}\n${url}   (Ctrl-C ends)`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
