/** What the kernel says of processes that have lowered their priority: in `/proc`, thread by thread. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TempDirs } from '../../../../test/support/bridge-peer.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { BIN, buildSdk, childrenOf, Running, until } from '../../../../test/support/processes.js';
import { compileAlone } from '../../../../test/support/stand-alone.js';
import { DEFAULT_NICE } from './priority.js';

// Processes are started, and waited for.
limitOfFile(PROCESSES_MS);

const SIMULATOR = fileURLToPath(new URL('../../../../test/bridge/simulator.mjs', import.meta.url));
/** Of these tests, and so of what they start. */
const OWN = getPriority();
const NOBODY = 65_534;
const dirs = new TempDirs();
const children: ChildProcess[] = [];

/** The module as a separate file, in a directory that everybody may read. */
let script: string;
beforeAll(() => {
  const directory = dirs.make();
  chmodSync(directory, 0o755);
  compileAlone(new URL('./priority.ts', import.meta.url), directory);
  script = join(directory, 'child.mjs');
  writeFileSync(
    script,
    `import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { DaemonPriority, lowerPriority } from './priority.mjs';
const worker = async () => once(new Worker("require('node:worker_threads').parentPort.postMessage(1); setInterval(() => {}, 1000)", { eval: true }), 'message');
await worker();
const [nice, change] = process.argv.slice(2);
if (change === undefined) lowerPriority(Number(nice));
else {
  let isRecording = true;
  new DaemonPriority(Number(nice), () => isRecording).opened();
  process.on('SIGUSR2', () => { isRecording = false; });
}
await worker();
await readFile(new URL(import.meta.url));
console.log('ready');
`,
  );
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
});
afterAll(() => dirs.cleanUp());

/** The pid of a process with threads from before and after it has called `lowerPriority(nice)`. */
async function lowered(
  nice: number,
  {
    through = [],
    detached = false,
    uid,
    change = [],
  }: { through?: string[]; detached?: boolean; uid?: number; change?: string[] } = {},
): Promise<number> {
  const [program = '', ...args] = [...through, process.execPath, script, String(nice), ...change];
  const child = spawn(program, args, {
    detached,
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(uid === undefined ? {} : { uid }),
  });
  children.push(child);
  await once(child.stdout!, 'data');
  return child.pid ?? -1;
}

/** Each nice value that a thread of the process has. */
function niceValues(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  expect(threads.length).toBeGreaterThan(0);
  const values = threads.flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return [Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])];
    } catch {
      return []; // it has ended meanwhile
    }
  });
  return [...new Set(values)];
}

const groupOf = (pid: number): string => readFileSync(`/proc/${pid}/autogroup`, 'utf8').trim();

describe.skipIf(lacks('Linux', existsSync('/proc/self/task')))('a process that lowers its priority', () => {
  it('does so with every thread, those it has and those it starts later', async () => {
    const pid = await lowered(7);
    expect(readdirSync(`/proc/${pid}/task`).length).toBeGreaterThan(4);
    expect(niceValues(pid)).toEqual([Math.max(OWN, 7)]);
  });

  it('never raises it', async () => {
    const pid = await lowered(7, { through: ['nice', '-n', '15'] });
    expect(niceValues(pid)).toEqual([Math.max(7, Math.min(19, OWN + 15))]);
  });

  it('by 0 leaves it as it is', async () => {
    expect(niceValues(await lowered(0))).toEqual([OWN]);
  });

  it.skipIf(lacks('root', process.getuid?.() === 0))(
    'by 0 leaves it as it is, above the ordinary too',
    async () => {
      expect(niceValues(await lowered(0, { through: ['nice', '-n', '-3'] }))).toEqual([OWN - 3]);
    },
  );
});

describe.skipIf(lacks('Linux', existsSync('/proc/self/task')))('a daemon', () => {
  it.skipIf(lacks('root', process.getuid?.() === 0))(
    'gives way when it has recorded for a while, and has its own priority again when nothing is recorded',
    async () => {
      const pid = await lowered(7, { detached: true, change: ['change'] });
      const hasValue = (value: number) => niceValues(pid).every((found) => found === value);
      await until('the daemon to give way', () => hasValue(Math.max(OWN, 7)));
      process.kill(pid, 'SIGUSR2');
      await until('the daemon to have its priority back', () => hasValue(OWN));
    },
  );

  it.skipIf(
    lacks('root and sessions with groups', process.getuid?.() === 0 && existsSync('/proc/self/autogroup')),
  )("gets its group's priority back without privileges", async () => {
    const pid = await lowered(7, { detached: true, change: ['change'], uid: NOBODY });
    await until('the group to give way', () => groupOf(pid).endsWith(' nice 7'));
    process.kill(pid, 'SIGUSR2');
    await until('the group to have its priority back', () => groupOf(pid).endsWith(' nice 0'));
  });
});

describe.skipIf(lacks('a kernel that groups processes by session', existsSync('/proc/self/autogroup')))(
  'where the kernel groups processes by session',
  () => {
    it('a process that leads its session lowers its group too', async () => {
      expect(groupOf(await lowered(7, { detached: true }))).toMatch(/ nice 7$/);
    });

    it('a process of a session that others lead leaves the group alone', async () => {
      const before = groupOf(process.pid);
      expect(groupOf(await lowered(7))).toBe(before);
      expect(groupOf(process.pid)).toBe(before);
    });

    it('many at once all do so, although the kernel lets an ordinary user change one at a time', async () => {
      const isRoot = process.getuid?.() === 0;
      const starts = Array.from({ length: 4 }, () =>
        lowered(7, { detached: true, ...(isRoot ? { uid: NOBODY } : {}) }),
      );
      const pids = await Promise.all(starts);
      await until('all groups to be lowered', () => pids.every((pid) => groupOf(pid).endsWith(' nice 7')));
    });
  },
);

describe.skipIf(lacks('Linux', existsSync('/proc/self/task')))('uscope run', () => {
  beforeAll(() => buildSdk(), 120_000);

  it.each([
    ['as much as its option says', ['--nice', '12'], 12],
    ['by itself', [], DEFAULT_NICE],
  ])('lowers its daemon while it records, %s, and never the simulator', async (_, options, nice) => {
    const cwd = dirs.make();
    // It waits for a file before it opens its trace, and for another one before it closes it.
    const simulator = `echo simulator; until [ -e open ]; do sleep 0.05; done; exec "$0" "$1" slow 300 close`;
    const run = new Running(
      process.execPath,
      [BIN, 'run', '--out', 'out', ...options, '--', 'sh', '-c', simulator, process.execPath, SIMULATOR],
      { cwd, env: { TMPDIR: cwd } },
    );
    try {
      await run.printed('simulator');
      const [daemon = -1] = childrenOf(run.pid, 'serve');
      expect(niceValues(daemon)).toEqual([OWN]);
      writeFileSync(join(cwd, 'open'), '');
      const lowered = Math.max(OWN, nice);
      await until('the daemon to give way', () => niceValues(daemon).every((value) => value === lowered));
      const [pid = -1] = childrenOf(run.pid, 'simulator.mjs');
      expect(niceValues(pid)).toEqual([OWN]);
      expect(niceValues(run.pid)).toEqual([OWN]);
    } finally {
      writeFileSync(join(cwd, 'close'), '');
      expect((await run.ended).status).toBe(0);
    }
  });
});
