/** Serves files of this repository to pages of tests, with the built library under the names that a page imports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['/sdk/dist/', '/node_modules/', '/test/vectors/'];
/** CommonJS, which a bundler would wrap. */
const WRAPPED = '/wrapped/xz-decompress.js';

export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startPageServer(): Promise<PageServer> {
  const server = createServer(({ url = '/' }, response) => {
    const { body, type } = contentOf(normalize(new URL(url, 'http://localhost').pathname));
    if (body === null) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function contentOf(path: string): { body: string | Uint8Array | null; type: string } {
  if (path === '/') return { body: page(), type: 'text/html; charset=utf-8' };
  if (path === WRAPPED) return { body: wrapped(), type: 'text/javascript' };
  const file = join(root, path);
  const isServed = FOLDERS.some((folder) => path.startsWith(folder)) && existsSync(file);
  const type = /^\.m?js$/.test(extname(path)) ? 'text/javascript' : 'application/octet-stream';
  return { body: isServed ? readFileSync(file) : null, type };
}

function page(): string {
  return `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports: imports() })}</script>`;
}

/** What a bundler finds out from package.json of the packages, with the condition \`browser\`. */
function imports(): Record<string, string> {
  const formats = readdirSync(join(root, 'sdk/dist/formats'), { withFileTypes: true });
  const codecs = readdirSync(join(root, 'sdk/dist/codecs/browser')).filter((name) => name.endsWith('.js'));
  return {
    ...Object.fromEntries(
      formats
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => [`uscope/formats/${name}`, `/sdk/dist/formats/${name}/index.js`]),
    ),
    'uscope/reader': '/sdk/dist/reader/index.js',
    ...Object.fromEntries(
      codecs.map((name) => [`#platform/${name.slice(0, -3)}`, `/sdk/dist/codecs/browser/${name}`]),
    ),
    '#platform/addon': '/sdk/dist/native/no-addon.js',
    fzstd: '/node_modules/fzstd/esm/index.mjs',
    flatbuffers: '/node_modules/flatbuffers/mjs/flatbuffers.js',
    'xz-decompress': WRAPPED,
  };
}

function wrapped(): string {
  const code = readFileSync(join(root, 'node_modules/xz-decompress/dist/package/xz-decompress.js'), 'utf8');
  // Its package.json says that browsers get nothing for "stream/web".
  return `const module = { exports: {} }; const exports = module.exports; const require = () => ({});\n${code}\nexport default module.exports;`;
}
