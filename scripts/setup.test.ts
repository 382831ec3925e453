import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { checkNode } from './setup.mjs';
import { ROOT, run } from './step.mjs';
import { needsFor, verilatorIsNewEnough } from './system-packages.mjs';

// Programs are started.
limitOfFile(PROCESSES_MS);

describe('a machine without anything but Node', () => {
  const empty = mkdtempSync(join(tmpdir(), 'uscope-path-'));
  afterEach(() => rmSync(empty, { recursive: true, force: true }));

  it('learns exactly what to install, with exit status 2', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/setup.mjs', '--for', 'test'], {
      cwd: ROOT,
      env: { PATH: empty },
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^ENV_MISSING: missing: a C compiler/);
    for (const name of ['gcc', 'g++', 'make', 'pkg-config', 'libzmq3-dev', 'verilator', 'clang-format']) {
      expect(stderr).toMatch(new RegExp(`apt-get install .*\\b${name.replace(/\+/g, '\\+')}( |$)`, 'm'));
    }
  });
});

describe('a machine that lacks only what is optional', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-path-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /**
   * Every program needed, each as a script; apt-get writes down what it is asked, and `chromium` comes if it may. One that is `partial` knows
   * no package named libclang-rt-dev, and clang cannot link a fuzzer.
   */
  function machine(apt: 'works' | 'fails' | 'partial'): {
    apt: () => string;
    run: (purpose: string) => unknown;
  } {
    const log = join(directory, 'apt.log');
    const script = (name: string, text: string) =>
      writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    for (const name of [
      'gcc',
      'g++',
      'make',
      'pkg-config',
      'clang-format',
      'clang',
      'wasm-ld',
      'python3',
      'iverilog',
      'riscv64-unknown-elf-gcc',
    ])
      script(name, 'exit 0');
    script('verilator', 'echo Verilator 5.036');
    if (apt === 'partial') script('clang', 'case "$*" in *fuzzer*) exit 1;; esac');
    const unknown = 'case "$*" in *libclang-rt-dev*) exit 100;; esac';
    const effect = `case "$*" in *chromium*) echo '#!/bin/sh' > ${directory}/chromium; /bin/chmod +x ${directory}/chromium;; esac`;
    script(
      'apt-get',
      `echo "$*" >> ${log}\n${apt === 'fails' ? '[ "$1" = --version ] || exit 100' : `${apt === 'partial' ? unknown : ''}\n${effect}`}`,
    );
    script('sudo', 'while [ "$1" != apt-get ] && [ $# -gt 0 ]; do shift; done; [ $# -eq 0 ] || exec "$@"');
    const source = `import { ensureSystemPackages } from './scripts/system-packages.mjs';
      const { installed, missing } = await ensureSystemPackages(process.argv[1]);
      console.log(JSON.stringify({ installed, missing }));`;
    return {
      apt: () => readFileSync(log, 'utf8').replace(/^--version\n/, ''),
      run(purpose) {
        const args = ['--input-type=module', '-e', source, purpose];
        const { stdout } = spawnSync(process.execPath, args, {
          cwd: ROOT,
          env: { PATH: directory },
          encoding: 'utf8',
        });
        return JSON.parse(stdout);
      },
    };
  }

  it('gets Chromium for the tests, and nothing for the demo', () => {
    const { apt, run } = machine('works');
    expect(run('demo')).toEqual({ installed: [], missing: [] });
    expect(run('test')).toEqual({ installed: ['chromium'], missing: [] });
    expect(apt()).toBe('update\ninstall -y --no-install-recommends chromium\n');
    expect(run('test')).toEqual({ installed: [], missing: [] });
  });

  it('gets what its apt-get knows', () => {
    const { apt, run } = machine('partial');
    expect(run('test')).toEqual({ installed: ['chromium'], missing: [] });
    expect(apt()).toBe(
      [
        'update',
        'install -y --no-install-recommends libclang-rt-dev chromium',
        'install -y --no-install-recommends libclang-rt-dev',
        'install -y --no-install-recommends chromium',
        '',
      ].join('\n'),
    );
  });

  it('is ready all the same where apt-get fails', () => {
    expect(machine('fails').run('test')).toEqual({ installed: [], missing: [] });
  });
});

describe('versions', () => {
  it.each([
    ['Verilator 5.006 2023-01-22 rev (Debian 5.006-3)', true],
    ['Verilator 5.036 2025-04-27 rev v5.036', true],
    ['Verilator 6.001 2030-01-01', true],
    ['Verilator 5.004 2022-12-14', false],
    ['Verilator 4.228 2022-10-01', false],
    [' rev vUNKNOWN-built20260516-4e853d8', true],
    [' rev vUNKNOWN-built20220101-0000000', false],
    ['', false],
  ])('Verilator: %s', (text, good) => expect(verilatorIsNewEnough(text)).toBe(good));

  it('of Node that are too old are refused', () => {
    expect(() => checkNode('20.14.0')).toThrow(/ENV_MISSING: Node.js 20.15/);
    expect(() => checkNode('18.20.0')).toThrow(/ENV_MISSING/);
    expect(() => checkNode('20.15.0')).not.toThrow();
    expect(() => checkNode('24.0.0')).not.toThrow();
  });
});

it('the demo needs nothing that only tests need', () => {
  const names = needsFor('demo').map((need) => need.debian);
  expect(names).toContain('verilator');
  expect(names).not.toContain('clang-format');
  expect(names).not.toContain('zlib1g-dev');
});

it('zlib is needed only where waveforms are measured', () => {
  expect(needsFor('bench').map((need) => need.debian)).toContain('zlib1g-dev');
  expect(needsFor('test').map((need) => need.debian)).not.toContain('zlib1g-dev');
});

describe('a step', () => {
  const node = (source: string) => ({ title: 'x', command: process.execPath, args: ['-e', source] });

  it('keeps the output and the exit status', async () => {
    const outcome = await run(node('console.log("out"); console.error("err"); process.exit(3)'));
    expect(outcome).toMatchObject({ ok: false, why: 'exit status 3' });
    expect(outcome.output).toContain('out');
    expect(outcome.output).toContain('err');
  });

  it('has no stdin to wait for', async () => {
    const outcome = await run(node('process.stdin.on("end", () => console.log("ended")).resume()'));
    expect(outcome).toMatchObject({ ok: true, output: 'ended\n' });
  });

  it('is stopped with its children when it takes too long', async () => {
    const source =
      'require("child_process").spawn("sleep", ["60"], {stdio: "inherit"}); setTimeout(() => {}, 60000)';
    const outcome = await run({ ...node(source), timeoutMs: 500 });
    expect(outcome).toMatchObject({ ok: false, why: 'stopped after 0.5 s' });
    expect(outcome.seconds).toBeLessThan(60); // its child sleeps that long
  });

  it('that cannot be started is a failed step', async () => {
    const outcome = await run({ title: 'x', command: '/nonexistent/program' });
    expect(outcome.ok).toBe(false);
    expect(outcome.why).toMatch(/cannot start .*ENOENT/);
  });
});
