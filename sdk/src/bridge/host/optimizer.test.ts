/** What V8 says of the functions it optimizes. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TempDirs } from '../../../../test/support/bridge-peer.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { compileAlone } from '../../../../test/support/stand-alone.js';

// Processes are started.
limitOfFile(PROCESSES_MS);

const dirs = new TempDirs();
let script: string;
beforeAll(() => {
  const directory = dirs.make();
  compileAlone(new URL('./optimizer.ts', import.meta.url), directory);
  script = join(directory, 'loop.mjs');
  writeFileSync(
    script,
    `import { optimizeLate } from './optimizer.mjs';
const [late, calls] = process.argv.slice(2);
if (late === 'late') optimizeLate();
function addUp(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += i & 7;
  return sum;
}
let total = 0;
for (let call = 0; call < Number(calls); call++) total += addUp(20);
console.log(total);
`,
  );
});
afterAll(() => dirs.cleanUp());

/** What it prints, of a process that complains of nothing. */
function outputOf(args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout;
}

function isOptimized(when: 'late' | 'as usual', calls: number): boolean {
  const output = outputOf(['--trace-opt', script, when, String(calls)]);
  return /marking .*<JSFunction addUp.* for optimization to TURBOFAN/.test(output);
}

it('names no flag that the engine does not know', () => {
  expect(outputOf([script, 'late', '1'])).toBe('62\n');
});

/** Later ones have one more compiler, and another rule. */
const isNode20 = process.versions.node.startsWith('20.');

it.skipIf(lacks('Node 20', isNode20))(
  'leaves alone what runs now and then, and optimizes what runs all the time',
  () => {
    expect(isOptimized('as usual', 2000)).toBe(true);
    expect(isOptimized('late', 2000)).toBe(false);
    expect(isOptimized('late', 200_000)).toBe(true);
  },
);
