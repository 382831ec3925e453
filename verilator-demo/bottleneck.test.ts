/** docs/tutorials/find-a-bottleneck.md, executed block by block as a reader would: what it shows of the out-of-order core is what the commands print. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRIES_ALL } from '../test/support/effort.js';
import { blocksOf, matchesOutput, type RunBlock, ShellSession } from '../test/support/executable-document.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { lacks } from '../test/support/needs.js';
import { buildSdk } from '../test/support/processes.js';
import { DEMO, makeO3, TESTS } from './lib/simulator.js';

// The core is built with Verilator; when every case is tried, also with the three changes of the guide.
limitOfFile(TRIES_ALL ? 4 * BUILDS_MS : BUILDS_MS);

const ROOT = dirname(DEMO.replace(/\/$/, ''));
const guide = readFileSync(join(ROOT, 'docs/tutorials/find-a-bottleneck.md'), 'utf8');
const out = mkdtempSync(join(tmpdir(), 'uscope-bottleneck-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

beforeAll(() => {
  buildSdk();
  makeO3();
  // The results of the guide's builds are not those of an earlier state of the core.
  if (TRIES_ALL)
    for (const name of ['_largecache', '_notrace_storequeue', '_notrace_misses'])
      execFileSync('rm', ['-rf', join(DEMO, `obj_dir_o3${name}`)]);
});

/**
 * The core that tests have anyway counts the same as the one that `npm run demo` builds; traces do not stay in the clone. npx takes as long as the
 * command.
 */
function asTested(script: string): string {
  return script
    .replaceAll('npm run demo -- --core o3', `node verilator-demo/demo.mjs --core o3 --build ${TESTS}`)
    .replaceAll('npx uscope', 'node sdk/bin/uscope.js')
    .replaceAll('verilator-demo/out', out);
}

describe('docs/tutorials/find-a-bottleneck.md', () => {
  const session = new ShellSession(out, ROOT);
  const blocks = blocksOf(guide).filter((block): block is RunBlock => block.kind === 'run');

  for (const { line, script, status, output, isLong } of blocks)
    it.skipIf(isLong && lacks('USCOPE_TEST_ALL=1 (builds of the out-of-order core)', TRIES_ALL))(
      `line ${line}: ${script.split('\n')[0]}`,
      () => {
        const ran = session.run(asTested(script));
        expect(ran.status, ran.output).toBe(status);
        if (output !== null && !matchesOutput(output, ran.output)) expect(ran.output).toBe(output);
      },
    );

  it('draws its conclusions from what the commands print', () => {
    const shown = blocks.map(({ output }) => output ?? '').join('');
    for (const [, row] of guide.matchAll(
      /^\| (?:as it is|store queue of|8 misses|data cache).*?\| (.*) \|$/gm,
    )) {
      const [cycles, ipc] = row!.replaceAll(',', '').split(' | ');
      if (cycles !== '249438') expect(shown).toContain(`passed: ${cycles} cycles`);
      expect(shown).toContain(ipc);
    }
  });
});
