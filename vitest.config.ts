import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `uscope` in tests and examples means the sources: nothing needs to be built to test it. */
const alias = [
  { find: /^uscope$/, replacement: fromRoot('./sdk/src/index.ts') },
  { find: /^uscope\/reader\/node$/, replacement: fromRoot('./sdk/src/reader/node.ts') },
  { find: /^uscope\/([a-z]+)$/, replacement: fromRoot('./sdk/src/$1/index.ts') },
];

/** These wait for compilers and simulators most of the time, each in a folder of its own. */
const builds = [
  'test/docs/guide.test.ts',
  'test/dpi/**/*.test.ts',
  'test/codegen/**/*.test.ts',
  'examples/**/*.test.ts',
];
const elsewhere = ['**/node_modules/**', '**/out/**', '**/obj_dir/**', '**/build/**'];

export default defineConfig({
  resolve: { alias },
  test: {
    // Processes, not threads: native packages and tests that send signals must not share one.
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['sdk/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'builds',
          include: builds,
          exclude: elsewhere,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // Whole processes: daemons, simulators, files on disk. One file at a time, after all others, so that
          // two cores are enough for what each of them starts.
          name: 'system',
          include: ['test/**/*.test.ts', 'verilator-demo/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...elsewhere, ...builds],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
