// @ts-check
/** Bundles the page into sdk/dist/viewer: what the npm package ships. The SDK must have been built. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const SOURCE = fileURLToPath(new URL('src', import.meta.url));
const SDK = fileURLToPath(new URL('../sdk/dist', import.meta.url));
const TARGET = join(SDK, 'viewer');

/** Compressed, in bytes: all that a trace's page fetches for its first picture; and the same without the thread that reads. */
const LIMITS = { all: 225_000, page: 108_000 };

/**
 * The kernels (sdk/dist/wasm) as the characters of their bytes: base64 hides from gzip what repeats.
 * @type {import('esbuild').Plugin}
 */
const EMBEDDED_KERNELS = {
  name: 'embedded kernels',
  setup(one) {
    // The largest, which few traces need, is a script by itself; other code loads it.
    one.onResolve({ filter: /\bindex\.wasm\.js$/ }, ({ kind }) =>
      kind === 'entry-point' ? null : { path: join(SOURCE, 'data/index-kernel.ts') },
    );
    one.onLoad({ filter: /\.wasm\.js$/ }, ({ path }) => {
      const text = JSON.stringify(readFileSync(path.replace(/\.js$/, ''), 'latin1'));
      const contents = `export const bytes = () => Uint8Array.from(${text}, (character) => character.charCodeAt(0));`;
      return { contents };
    });
  },
};

/**
 * The style sheet of the colours, from the lists that the picture is drawn with.
 * @type {import('esbuild').Plugin}
 */
const COLOURS = {
  name: 'colours',
  setup(one) {
    one.onResolve({ filter: /^colours\.css$/ }, ({ path }) => ({ path, namespace: 'colours' }));
    one.onLoad({ filter: /.*/, namespace: 'colours' }, async () => {
      const entry = join(SOURCE, 'model/css-colours.ts');
      const { outputFiles } = await build({
        entryPoints: [entry],
        bundle: true,
        format: 'esm',
        write: false,
      });
      const { cssColours } = await import(
        `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
      );
      return { contents: cssColours(), loader: 'css' };
    });
  },
};

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
/** @type {import('esbuild').BuildOptions} */
const OPTIONS = {
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
  plugins: [EMBEDDED_KERNELS, COLOURS],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
};
await build({
  ...OPTIONS,
  entryPoints: {
    // The page of a trace, with its threads. Several of them read: one for the picture, and one for each purpose that may take long.
    page: join(SOURCE, 'page/main.tsx'),
    drawing: join(SOURCE, 'drawing/worker.ts'),
    data: join(SOURCE, 'data/data-worker.ts'),
    questions: join(SOURCE, 'data/question-worker.ts'),
    // The list of a directory.
    runs: join(SOURCE, 'runs/main.ts'),
    // Two runs, with a thread that reads both.
    compare: join(SOURCE, 'compare/main.tsx'),
    'compare-data': join(SOURCE, 'compare/worker.ts'),
    // Several traces on one time axis.
    together: join(SOURCE, 'together/main.tsx'),
  },
});
await build({
  ...OPTIONS,
  globalName: 'uscopeIndexKernel',
  entryPoints: { 'index-kernel': join(SDK, 'wasm/index.wasm.js') },
});
await build({
  ...OPTIONS,
  entryPoints: {
    style: join(SOURCE, 'page/all.css'),
    runs: join(SOURCE, 'runs/style.css'),
    compare: join(SOURCE, 'compare/style.css'),
    together: join(SOURCE, 'together/style.css'),
  },
});
const PAGES = { index: 'page', runs: 'runs', compare: 'compare', together: 'together' };
for (const [name, folder] of Object.entries(PAGES))
  cpSync(join(SOURCE, folder, 'index.html'), join(TARGET, `${name}.html`));

// The picture of `uscope view --png` where there is no browser. It is not part of the page: Node takes the SDK from the package it is in.
await build({
  entryPoints: { draw: join(SOURCE, 'headless/main.ts') },
  outdir: join(TARGET, 'node'),
  bundle: true,
  minify: OPTIONS.minify,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['uscope', 'uscope/*'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
});

const size = (/** @type {string} */ name) => gzipSync(readFileSync(join(TARGET, name))).length;
const sizes = Object.fromEntries(
  ['index.html', 'style.css', 'page.js', 'drawing.js', 'data.js'].map((name) => [name, size(name)]),
);
const all = Object.values(sizes).reduce((sum, one) => sum + one, 0);
const page = all - (sizes['data.js'] ?? 0);
const parts = Object.entries(sizes).map(([name, bytes]) => `${name} ${bytes}`);
console.log(`viewer: ${all} bytes gzip (${parts.join(', ')})`);
if (all > LIMITS.all || page > LIMITS.page) {
  console.error(`the viewer is larger than ${LIMITS.page} bytes without and ${LIMITS.all} with the reader`);
  process.exitCode = 1;
}
