/** An installation without the optional packages (`npm install uscope --omit=optional`): all that reads and converts works. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSdk } from '../support/build-sdk.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';

// The package is built where it is not, and each case starts a process.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TRACE = join(ROOT, 'test/compatibility/0.1.0/traces/closed-lz4.uscope');
const HOME = mkdtempSync(join(tmpdir(), 'uscope-read-only-'));

/** Refuses packages as Node does when they are not there. */
const HOOK = `export async function resolve(name, context, next) {
  if (/^(zeromq|zod|zstd-napi|@modelcontextprotocol)/.test(name)) {
    const error = new Error("Cannot find package '" + name + "' imported from a test");
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
  }
  return next(name, context);
}`;
const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
const REGISTER = moduleOf(
  `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(HOOK))});`,
);

const node = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', REGISTER, ...args], {
    cwd: HOME,
    encoding: 'utf8',
    timeout: 60_000,
  });
const uscope = (...args: string[]) => node(join(ROOT, 'sdk/bin/uscope.js'), ...args);

beforeAll(() => buildSdk());
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

describe('without the optional packages', () => {
  it.each([
    ['info', TRACE],
    ['verify', TRACE],
    ['stats', TRACE],
    ['convert', TRACE, '-o', 'x.vcd'],
    ['slice', TRACE, '-o', 'x.uscope'],
  ])('uscope %s works', (...args) => {
    const { status, stderr } = uscope(...args);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const output = args[args.indexOf('-o') + 1];
    if (args.includes('-o')) expect(existsSync(join(HOME, output!))).toBe(true);
  });

  it.each([
    ['serve', 'zeromq'],
    ['mcp', '@modelcontextprotocol/sdk', TRACE],
  ])('uscope %s says that it needs %s', (verb, name, ...args) => {
    const { status, stderr } = uscope(verb, ...args);
    expect(status).toBe(1);
    expect(stderr).toContain(`ENV_MISSING`);
    expect(stderr).toContain(`npm install ${name}`);
  });
});
