/**
 * Two hosts and a directory that both see. A host is a network, mount and PID name space: neither sees the other's sockets, processes or
 * shared memory, as on two machines. Root only.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TempDirs } from '../support/bridge-peer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk } from '../support/processes.js';
import { buildSimulator } from '../torture/build.mjs';
import { contentsOf } from '../torture/pattern.mjs';
import { childOf, Program, readLedger, State, strike, until } from '../torture/processes.mjs';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const HOST = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'];
const mayUnshare = spawnSync('unshare', [...HOST, 'true']).status === 0;
/** The lease of locks: short where a test waits for its end, and otherwise longer than a busy machine holds up what renews it. */
const [SHORT, LONG] = ['2000', '60000'];
const ENDLESS = '100000000';

const dirs = new TempDirs();
const running: Program[] = [];
let simulator = '';
let cwd = '';

/** `uscope run` with a simulator on a separate host. */
function runOn(host: string, cycles: string, lease = SHORT): Program {
  mkdirSync(join(cwd, host));
  const commands = `mount -t tmpfs tmpfs /dev/shm && exec "$@"`;
  const simulate = [simulator, 'core0', cycles, '25', join(cwd, host, 'ledger')];
  const run = [process.execPath, BIN, 'run', '--out', 'shared', '--', ...simulate];
  const env = { USCOPE_LOCK_LEASE_MS: lease, TMPDIR: join(cwd, host) };
  const program = new Program('unshare', [...HOST, 'sh', '-c', commands, 'sh', ...run], { cwd, env });
  running.push(program);
  return program;
}

const ledgerOf = (host: string) => readLedger(join(cwd, host, 'ledger'));
const filesIn = (): string[] =>
  readdirSync(join(cwd, 'shared')).filter((name) => !name.startsWith('.uscope-'));

/** `uscope run`, below `unshare`. */
const runOf = ({ pid }: Program): number => childOf(pid, 'run');

describe.skipIf(!mayUnshare)('two hosts that share a directory (needs root, for name spaces)', () => {
  beforeAll(() => {
    buildSdk();
    simulator = buildSimulator();
  });
  afterEach(async () => {
    for (const program of running.splice(0)) {
      program.kill('SIGKILL');
      await program.ended;
    }
    dirs.cleanUp();
  });

  it('a trace that one writes is refused to the other, and not harmed', async () => {
    cwd = dirs.make();
    const first = runOn('a', ENDLESS, LONG);
    await until(() => ledgerOf('a').state === State.TRACING);
    // Its holder renews the lock by a file that it renames.
    await until(() => filesIn().sort().join() === '.core0.uscope.lock,core0.uscope');
    const second = runOn('b', '100', LONG);
    await second.end();
    expect(second.output).toMatch(/WRITER_BUSY: .*process \d+ on .+ writes this trace/);
    strike(childOf(runOf(first), simulator));
    await first.end();
    const contents = await contentsOf(join(cwd, 'shared', 'core0.uscope'));
    expect(contents).toMatchObject({ isComplete: true, problem: null, lost: 0n });
    expect(contents.cycles).toBeGreaterThanOrEqual(ledgerOf('a').completed);
    expect(filesIn()).toEqual(['core0.uscope']);
  });

  it('the lock of one that has died is free after its lease', async () => {
    cwd = dirs.make();
    const first = runOn('a', ENDLESS);
    await until(() => ledgerOf('a').durable > 0);
    first.kill('SIGKILL'); // and everything on its host
    await first.ended;
    expect(filesIn()).toContain('.core0.uscope.lock');
    const second = runOn('b', '2000');
    await second.end();
    expect(second.output).not.toContain('WRITER_BUSY');
    expect(second.status).toBe(0);
    const path = join(cwd, 'shared', 'core0.uscope');
    expect(await contentsOf(path)).toMatchObject({ cycles: 2000, isComplete: true, problem: null });
    const [aside, ...others] = filesIn().filter((name) => name !== 'core0.uscope');
    expect(aside).toMatch(/^core0\.[0-9a-f]{8}\.unfinished\.uscope$/);
    expect(others).toEqual([]);
  });

  it('one that was stopped for longer than its lease notices before it writes again', async () => {
    cwd = dirs.make();
    const first = runOn('a', ENDLESS);
    await until(() => ledgerOf('a').durable > 0);
    const daemon = childOf(runOf(first), 'serve');
    expect(daemon).toBeGreaterThan(0);
    strike(daemon, 'SIGSTOP');
    const second = runOn('b', '2000');
    await second.end();
    expect(second.status).toBe(0);
    const path = join(cwd, 'shared', 'core0.uscope');
    const whole = readFileSync(path);
    strike(daemon, 'SIGCONT');
    await until(() => first.output.includes('WRITER_LOCK_LOST'));
    await first.end();
    expect(first.status).not.toBe(0);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(await contentsOf(path)).toMatchObject({ cycles: 2000, isComplete: true, problem: null });
  });
});
