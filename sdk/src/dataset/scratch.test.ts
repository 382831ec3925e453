import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { makeScratch } from './scratch.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-scratch-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HOOKS = new URL('../../../test/support/source-process.mjs', import.meta.url).href;
const SOURCE = new URL('./scratch.ts', import.meta.url).href;

it('a directory goes with its owner; that of a killed process goes when the next one is made', {
  timeout: PROCESSES_MS,
}, async () => {
  const script = `
    import { makeScratch } from ${JSON.stringify(SOURCE)};
    process.stdout.write((await makeScratch('view-sql', ${JSON.stringify(directory)})).path);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', HOOKS, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [path] = (await once(child.stdout, 'data')).map(String) as [string];
  writeFileSync(join(path, 'spill'), 'x');
  // Of somebody else, or of a name that another program chose.
  mkdirSync(join(directory, 'uscope-sql-mine'));
  const mine = await makeScratch('sql', directory);
  expect(existsSync(join(path, 'spill'))).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = await makeScratch('sql', directory);
  expect(existsSync(path)).toBe(false);
  expect(existsSync(mine.path)).toBe(true);
  await mine.remove();
  await next.remove();
  expect(readdirSync(directory)).toEqual(['uscope-sql-mine']);
});
