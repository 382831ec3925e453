/** An installation without the optional packages (`npm install uscope --omit=optional`): all that reads and converts works. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const HOOK_FILE = join(HOME, 'hook.mjs');
const REGISTER_FILE = join(HOME, 'register.mjs');

const node = (...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: HOME,
    encoding: 'utf8',
    timeout: BUILDS_MS,
    // For the daemon too, which uscope run starts.
    env: { ...process.env, NODE_OPTIONS: `--import ${REGISTER_FILE}` },
  });
const uscope = (...args: string[]) => node(join(ROOT, 'sdk/bin/uscope.js'), ...args);

beforeAll(() => {
  buildSdk();
  writeFileSync(HOOK_FILE, HOOK);
  writeFileSync(
    REGISTER_FILE,
    "import { register } from 'node:module'; register('./hook.mjs', import.meta.url);",
  );
});
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

describe('without the optional packages', () => {
  it.each([
    ['info', TRACE],
    ['verify', TRACE],
    ['stats', TRACE],
    ['convert', TRACE, '-o', 'x.vcd'],
    ['slice', TRACE, '-o', 'x.uscope'],
  ])('uscope %s works', (...args) => {
    const output = args.includes('-o') ? join(HOME, args.at(-1)!) : null;
    if (output) rmSync(output, { force: true });
    const { status, stderr } = uscope(...args);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    if (output) expect(existsSync(output)).toBe(true);
  });

  it.each([['help', 'run'], ['help', 'serve'], ['run', '--help'], ['completion', 'bash'], ['--help']])(
    'uscope %s %s prints what it prints with them',
    (...args) => {
      const whole = spawnSync(process.execPath, [join(ROOT, 'sdk/bin/uscope.js'), ...args], {
        encoding: 'utf8',
      });
      const { status, stdout } = uscope(...args);
      expect({ status, stdout }).toEqual({ status: 0, stdout: whole.stdout });
    },
  );

  it.each([
    ['serve', 'zeromq'],
    ['keygen', 'zeromq', 'a.key'],
    ['ctl', 'zeromq', 'ipc:///nowhere', 'status'],
    ['run', 'zeromq', 'true'],
    ['mcp', '@modelcontextprotocol/sdk', TRACE],
  ])('uscope %s says that it needs %s', (verb, name, ...args) => {
    const { status, stderr } = uscope(verb, ...args);
    expect(status).toBe(1);
    expect(stderr).toContain(`ENV_MISSING`);
    expect(stderr).toContain(`npm install ${name}`);
  });
});
