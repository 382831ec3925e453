import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `uscope` in tests and examples means the sources: nothing needs to be built to test it. */
const alias = [
  { find: /^uscope$/, replacement: fromRoot('./sdk/src/index.ts') },
  { find: /^uscope\/reader\/node$/, replacement: fromRoot('./sdk/src/reader/node.ts') },
  { find: /^uscope\/([a-z]+)$/, replacement: fromRoot('./sdk/src/$1/index.ts') },
];

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
          // Whole processes: daemons, simulators, files on disk. One file at a time, after the unit tests, so that
          // two cores are enough for what each of them starts.
          name: 'system',
          include: [
            'test/**/*.test.ts',
            'verilator-demo/**/*.test.ts',
            'examples/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', '**/out/**', '**/obj_dir/**', '**/build/**'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
