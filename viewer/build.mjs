// @ts-check
/** Bundles the page into sdk/dist/viewer: what the npm package ships. The SDK must have been built. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { loadedOnDemand } from './on-demand.mjs';

const SOURCE = fileURLToPath(new URL('src', import.meta.url));
const TARGET = fileURLToPath(new URL('../sdk/dist/viewer', import.meta.url));

/** Compressed, in bytes: all of the page; and without the thread that reads. */
const LIMITS = { all: 160_000, page: 100_000 };

/**
 * Segments whose index is damaged are counted anew. That is rare enough for the plain loop, and the compiled one is large. The other compiled loops are
 * written byte by byte: base64 hides from gzip what repeats.
 */
const SMALLER_KERNELS = {
  name: 'smaller kernels',
  setup(/** @type {import('esbuild').PluginBuild} */ one) {
    one.onLoad({ filter: /[\\/]index-kernel\.js$/ }, () => ({
      contents: 'export const createIndexKernel = () => null;',
    }));
    one.onLoad({ filter: /-wasm\.js$/ }, async ({ path }) => {
      const { WASM_BASE64 } = await import(pathToFileURL(path).href);
      const bytes = Buffer.from(WASM_BASE64, 'base64').toString('latin1');
      return { contents: `export const WASM_BASE64 = ${JSON.stringify(bytes)};` };
    });
    one.onLoad({ filter: /[\\/]base[\\/]base64\.js$/ }, () => ({
      contents: 'export const decodeBase64 = (text) => Uint8Array.from(text, (char) => char.charCodeAt(0));',
    }));
  },
};

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
await build({
  entryPoints: {
    page: join(SOURCE, 'page/main.tsx'),
    data: join(SOURCE, 'data/worker.ts'),
    drawing: join(SOURCE, 'drawing/worker.ts'),
  },
  outdir: TARGET,
  bundle: true,
  minify: !process.argv.includes('--debug'),
  // Classic scripts also run in pages opened from a disk.
  format: 'iife',
  platform: 'browser',
  conditions: ['browser'],
  target: ['chrome110', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [SMALLER_KERNELS],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  // Only traces without an index need it.
  plugins: [
    loadedOnDemand({
      module: /index-wasm\.js$/,
      name: 'WASM_BASE64',
      script: 'index-kernel.js',
      target: TARGET,
    }),
  ],
});
for (const name of ['index.html', 'style.css']) cpSync(join(SOURCE, 'page', name), join(TARGET, name));

const size = (/** @type {string} */ name) => gzipSync(readFileSync(join(TARGET, name))).length;
const sizes = Object.fromEntries(
  ['index.html', 'style.css', 'page.js', 'drawing.js', 'data.js'].map((name) => [name, size(name)]),
);
const all = Object.values(sizes).reduce((sum, one) => sum + one, 0);
const page = all - (sizes['data.js'] ?? 0);
console.log(
  `viewer: ${all} bytes gzip (${Object.entries(sizes)
    .map(([name, bytes]) => `${name} ${bytes}`)
    .join(', ')})`,
);
if (all > LIMITS.all || page > LIMITS.page) {
  console.error(`the viewer is larger than ${LIMITS.page} bytes without and ${LIMITS.all} with the reader`);
  process.exitCode = 1;
}
