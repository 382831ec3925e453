import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { MODULE, wasmModule } from './scripts/wasm-modules.mjs';

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `uscope` in tests and examples means the sources: nothing needs to be built to test it. */
const alias = [
  { find: /^uscope$/, replacement: fromRoot('./sdk/src/index.ts') },
  { find: /^uscope\/reader\/node$/, replacement: fromRoot('./sdk/src/reader/node.ts') },
  { find: /^uscope\/cpu$/, replacement: fromRoot('./sdk/src/semantics/public-cpu.ts') },
  { find: /^uscope\/(noc|search|timeline)$/, replacement: fromRoot('./sdk/src/semantics/$1/index.ts') },
  { find: /^#platform\/addon$/, replacement: fromRoot('./sdk/src/native/native-addon.ts') },
  { find: /^#platform\/([a-z0-9]+)$/, replacement: fromRoot('./sdk/src/codecs/node/$1.ts') },
  { find: /^uscope\/([a-z-]+)$/, replacement: fromRoot('./sdk/src/$1/index.ts') },
];

/** What Vite has named once it names by a path from the root of this tree, because no such file exists. */
const sourceOf = (id: string) => (id.startsWith('/sdk/') ? fromRoot(`.${id}`) : id);

/** Kernels, which the build makes modules of. */
const kernels: Plugin = {
  name: 'kernels',
  enforce: 'pre',
  resolveId: (id, importer) =>
    MODULE.test(id) && importer?.endsWith('.ts') ? resolve(dirname(importer), sourceOf(id)) : null,
  load: (id) => (MODULE.test(id) && !existsSync(id) ? wasmModule(sourceOf(id)) : null),
};

/** What computes for the most part. */
const unit = ['sdk/src/**/*.test.ts', 'scripts/**/*.test.ts', 'viewer/src/**/*.test.ts'];
/** These replace functions, change the environment or the rights of new files, or count the memory of their process. */
const alone = [
  'sdk/src/bridge/daemon/{credit,schema-reader}.test.ts',
  'sdk/src/bridge/memory/memory-account.test.ts',
  'sdk/src/cli/{file-modes,health,interrupt}.test.ts',
  'sdk/src/dataset/publish.test.ts',
  'sdk/src/reader/codec.test.ts',
  'sdk/src/writer/large-state.test.ts',
  'sdk/src/writer/frames/{cut-timer,writer-memory}.test.ts',
  'sdk/src/writer/output/path-lock.test.ts',
];
/** Unit tests of seconds each, for they start processes or try hundreds of cases: `npm test -- --quick` does without them. */
const heavy = [
  'sdk/src/dataset/**/*.test.ts',
  'sdk/src/formats/{interrupt,hostile-names}.test.ts',
  'sdk/src/tools/recover/recover.test.ts',
  'sdk/src/trace-index/questions/*.test.ts',
  'sdk/src/bridge/session/session-{lanes,memory}.test.ts',
  'sdk/src/cli/{bit-flips,hostile-text}.test.ts',
];
const isQuick = process.env.USCOPE_TEST_QUICK === '1';
/** These wait for compilers, simulators and browsers most of the time, each in a separate folder. */
const builds = [
  'viewer/test/**/*.test.ts',
  'test/{browser,codegen,docs,dpi,install,mcp,support,vectors}/**/*.test.ts',
  'examples/**/*.test.ts',
];
const demo = ['verilator-demo/**/*.test.ts'];
const elsewhere = ['**/node_modules/**', '**/out/**', '**/obj_dir/**', '**/build/**'];

/** For what hangs. Tests that take longer say why, with a limit of test/support/limits.ts. */
const TEST_LIMIT_MS = 60_000;
/** `expect.poll`: the default of a second is nothing where several browsers share two cores. */
const POLL_LIMIT_MS = 60_000;
/** Hooks build what tests run (the SDK, simulators), when that is not there yet. */
const HOOK_LIMIT_MS = 300_000;

/** Of a project those that take long, in order: none of them runs alone at the end. Those with a browser share it (test/support/chromium.ts). */
const LONG = [
  ...['bridge/run', 'account', 'systemc', 'bench', 'hostile', 'torture'],
  ...['o3', 'bottleneck', 'multicore', 'demo/demo', 'farm'],
  ...['viewer/test/', 'test/browser/', 'test/dpi/', 'examples/'],
  ...[
    'dataset/full-disk',
    'dataset/kill',
    'dataset/dataset',
    'formats/interrupt',
    'dataset/',
    'client-memory',
  ],
];

/**
 * Where nobody looks on, a test of processes, simulators or browsers that fails runs once more, and the run's last lines name it: a machine that
 * others use delays any of them. `unit` computes, and never needs it.
 */
const retry = process.env.CI ? 1 : 0;

/** Each project compiles its sources; those of one run of `npm test` share what comes out, in a directory that ends with the run. */
const compiled = process.env.USCOPE_MODULE_CACHE;

/** Files with long waits begin first: at the end, those of seconds keep both cores busy. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = ['system', 'demo', 'builds', 'alone', 'unit'];
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const file = relative(fromRoot('.'), moduleId);
      const place = LONG.findIndex((part) => file.includes(part));
      return projects.indexOf(project.name) * 100 + (place < 0 ? LONG.length : place);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  plugins: [kernels],
  resolve: { alias },
  test: {
    // Processes, not threads: native packages and tests that send signals must not share one. All but `alone` and `demo` run one after the
    // other in the same processes, which load the sources once: that takes as long as most of them run. They leave behind
    // no daemons, replaced functions or changed environment.
    setupFiles: [fromRoot('./test/support/processor-time.ts'), fromRoot('./test/support/random-seed.ts')],
    pool: 'forks',
    ...(compiled ? { experimental: { fsModuleCache: true, fsModuleCachePath: compiled } } : {}),
    execArgv: ['--import', fromRoot('./test/support/source-threads.mjs')],
    // More than the machine of the rules has cores (two): many tests wait for processes.
    maxWorkers: 4,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: HOOK_LIMIT_MS,
    expect: { poll: { timeout: POLL_LIMIT_MS } },
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          retry,
          include: alone,
          exclude: elsewhere,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: unit,
          exclude: [...elsewhere, ...alone, ...(isQuick ? heavy : [])],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'builds',
          retry,
          include: builds,
          exclude: elsewhere,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'demo',
          retry,
          include: demo,
          exclude: elsewhere,
          globalSetup: 'test/support/build-demo.ts',
        },
      },
      {
        extends: true,
        test: {
          // Several processes each, and moments that are waited for: daemons, simulators, things killed. They wait
          // for events, not for times, so that other files may run beside them.
          name: 'system',
          retry,
          include: ['test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...elsewhere, ...builds],
          isolate: false,
        },
      },
    ],
  },
});
