// @ts-check
/** Bundles the page into sdk/dist/viewer: what the npm package ships. The SDK must have been built. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { embeddedKernels, takenFromPart } from './on-demand.mjs';
import { buildWithParts } from './parts.mjs';

const SOURCE = fileURLToPath(new URL('src', import.meta.url));
const SDK = fileURLToPath(new URL('../sdk/dist', import.meta.url));
const TARGET = join(SDK, 'viewer');

/** Compressed, in bytes: what the first picture needs; the same without the thread that reads; and the thread that searches and counts. */
const LIMITS = { all: 165_000, page: 100_000, helper: 122_000 };

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
  plugins: [
    // Only traces without an index need that of the index.
    embeddedKernels({ scripts: { index: 'index-kernel.js' }, target: TARGET }),
  ],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
};
await build({
  ...OPTIONS,
  entryPoints: {
    helper: join(SOURCE, 'data/helper-worker.ts'),
  },
});
await buildWithParts(OPTIONS, {
  name: 'page',
  entry: join(SOURCE, 'page/main.tsx'),
  parts: {
    panels: join(SOURCE, 'panels/on-demand.ts'),
    sql: join(SOURCE, 'panels/sql/on-demand.ts'),
  },
});
await buildWithParts(OPTIONS, {
  name: 'drawing',
  entry: join(SOURCE, 'drawing/worker.ts'),
  parts: {
    svg: join(SOURCE, 'drawing/svg/on-demand.ts'),
    forms: join(SOURCE, 'drawing/forms/on-demand.ts'),
  },
});
/** What an index lacks is counted from the trace; retired numbers, text and columns are asked for by the user. */
const WITH_INDEX = {
  ...OPTIONS,
  plugins: [
    takenFromPart({
      module: /seldom\.js$/,
      importer: /trace-index\.js$/,
      names: ['columnFinder', 'RetiredRows', 'segmentsWith'],
      part: 'index_questions',
    }),
    takenFromPart({
      module: /index-pass\.js$/,
      importer: /segment-parts\.js$/,
      names: ['IndexPass'],
      part: 'index_making',
    }),
    ...(OPTIONS.plugins ?? []),
  ],
};
// What only some traces need, or not the first picture, is fetched when it is used (src/data/load.ts).
await buildWithParts(WITH_INDEX, {
  name: 'data',
  entry: join(SOURCE, 'data/worker.ts'),
  parts: {
    noc: join(SOURCE, 'data/noc.ts'),
    questions: join(SOURCE, 'data/questions/on-demand.ts'),
    index_making: join(SDK, 'trace-index/questions/index-maker.js'),
    index_questions: join(SDK, 'trace-index/questions/seldom.js'),
  },
});
// The list of a directory is a page by itself.
await build({ ...OPTIONS, entryPoints: { runs: join(SOURCE, 'runs/main.ts') } });
await build({ ...OPTIONS, entryPoints: { runs: join(SOURCE, 'runs/style.css') } });
cpSync(join(SOURCE, 'runs/index.html'), join(TARGET, 'runs.html'));
// So is that of two runs, with a thread that reads both.
await build({
  ...OPTIONS,
  entryPoints: {
    compare: join(SOURCE, 'compare/main.tsx'),
    'compare-data': join(SOURCE, 'compare/worker.ts'),
  },
});
const COMPARE_STYLE = { compare: join(SOURCE, 'compare/style.css') };
await build({ ...OPTIONS, entryPoints: COMPARE_STYLE });
cpSync(join(SOURCE, 'compare/index.html'), join(TARGET, 'compare.html'));
// And that of several traces on one time axis.
await build({ ...OPTIONS, entryPoints: { together: join(SOURCE, 'together/main.tsx') } });
await build({ ...OPTIONS, entryPoints: { together: join(SOURCE, 'together/style.css') } });
cpSync(join(SOURCE, 'together/index.html'), join(TARGET, 'together.html'));
cpSync(join(SOURCE, 'page/index.html'), join(TARGET, 'index.html'));
await build({
  ...OPTIONS,
  entryPoints: {
    style: join(SOURCE, 'page/style.css'),
    panels: join(SOURCE, 'panels/style.css'),
    sql: join(SOURCE, 'panels/sql/style.css'),
  },
});

// The picture of `uscope view --png` where there is no browser. It is no part of the page: Node takes the SDK from the package it is in.
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
// Loaded only when something is searched or counted.
const helper = size('helper.js');
const page = all - (sizes['data.js'] ?? 0);
console.log(
  `viewer: ${all} bytes gzip (${Object.entries(sizes)
    .map(([name, bytes]) => `${name} ${bytes}`)
    .join(
      ', ',
    )}; after it panels.js ${size('panels.js')}; on demand questions.js ${size('questions.js')}, helper.js ${helper})`,
);
if (all > LIMITS.all || page > LIMITS.page || helper > LIMITS.helper) {
  console.error(
    `the viewer is larger than ${LIMITS.page} bytes without and ${LIMITS.all} with the reader, or helper.js than ${LIMITS.helper}`,
  );
  process.exitCode = 1;
}
