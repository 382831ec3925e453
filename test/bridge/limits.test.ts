/** What peers cost is bounded, and what cannot be granted is refused: the daemon and the traces of others continue. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  RawPeer,
  sessionId,
  upTo,
  valuesOf,
} from '../support/bridge-peer.js';
import { decodeFile } from '../support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, Running } from '../support/processes.js';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const DIST = join(dirname(BIN), '../dist');
const bench = new BridgeBench();
beforeAll(() => buildSdk());
afterEach(() => bench.cleanUp());

/** 262 MB of state in a text of a few kB. */
const fields = Array.from({ length: 100 }, (_, i) => `f${i}: u64`).join(', ');
const HUGE = `uscope: 1\nclocks: {clk: 1 ns}\nstorages:\n${Array.from(
  { length: 5 },
  (_, i) => `  s${i}: {slots: 65535, kind: dense, fields: {${fields}}}\n`,
).join('')}`;
/** Work for a second or so. */
const HEAVY = (name: string): string =>
  `uscope: 1\nclocks: {clk: 1 ns}\nevents:\n${Array.from({ length: 8000 }, (_, i) => `  ${name}${i}: {}\n`).join('')}`;

interface Target {
  readonly endpoint: string;
  readonly daemon: Running;
}

function serve(...more: string[]): Promise<Target> {
  return serveBy([], ...more);
}

/** @param prefix the command that starts the daemon's */
async function serveBy(prefix: readonly string[], ...more: string[]): Promise<Target> {
  const directory = bench.dirs.make();
  const endpoint = `ipc://${directory}/d.sock`;
  const serve = [process.execPath, BIN, 'serve', '--endpoint', endpoint, '--out', join(directory, 'out')];
  const [program, ...args] = [...prefix, ...serve, ...more];
  const daemon = new Running(program, args, { cwd: directory });
  bench.later(async () => {
    daemon.kill('SIGKILL');
    await daemon.ended;
  });
  await daemon.printed('listening');
  return { endpoint, daemon };
}

async function greeted({ endpoint }: Target): Promise<RawPeer> {
  const peer = new RawPeer(endpoint);
  bench.later(() => peer.close());
  await peer.hello();
  return peer;
}

/** MB. */
function memoryOf({ daemon }: Target, name: 'VmHWM' | 'VmData'): number {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'latin1');
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** An honest trace is open while `attack` runs, and whole when it is closed. */
async function withstands(target: Target, attack: () => Promise<unknown>): Promise<void> {
  const honest = await greeted(target);
  const opened = await honest.open({ session: sessionId(99), name: 'honest' });
  await honest.data(opened, 0n, 0n, framesFrom(0, 100));
  await attack();
  await honest.data(opened, 1n, 100n, framesFrom(100, 200));
  await honest.control(closeMessage(sessionId(99), opened.trace, 200));
  await honest.next('closed', ['ack']);
  expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(200));
}

/** Answers to that many opens of traces with huge states, one after the other. */
async function openHuge(peer: RawPeer, count: number): Promise<string[]> {
  const answers: string[] = [];
  for (let n = 1; n <= count; n++) {
    const message = { session: sessionId(n), name: `huge${n}`, schema: HUGE, credit: 1 << 20 };
    await peer.control({ t: 'open', req: n, ...message });
    answers.push(
      await peer.next('opened').then(
        () => 'opened',
        (error: Error) => error.message,
      ),
    );
  }
  return answers;
}

describe('traces with huge states', () => {
  it('are granted memory as long as there is some, the others are refused with the reason', async () => {
    const target = await serve('--max-memory=1500MB');
    const before = memoryOf(target, 'VmHWM');
    await withstands(target, async () => {
      const answers = await openHuge(await greeted(target), 8);
      expect(answers[0]).toBe('opened');
      for (const answer of answers.slice(1))
        expect(answer).toMatch(/BRIDGE_NO_MEMORY.*needs 1.07 GB; .* of the 1.57 GB .*--max-memory/);
    });
    expect(memoryOf(target, 'VmHWM') - before).toBeLessThan(1500);
  });

  it('give their memory back when they end', async () => {
    const target = await serve('--max-memory=1500MB');
    const peer = await greeted(target);
    for (let n = 1; n <= 4; n++) {
      const opened = await peer.open({ session: sessionId(n), name: `huge${n}`, schema: HUGE });
      await peer.control(closeMessage(sessionId(n), opened.trace, 0));
      await peer.next('closed');
    }
    expect(memoryOf(target, 'VmHWM')).toBeLessThan(1500);
  });

  it('fail alone where the machine refuses what the daemon thought it had', async () => {
    const target = await serve('--max-memory=20GB');
    await withstands(target, async () => {
      const data = Math.round((memoryOf(target, 'VmData') + 700) * 1024 * 1024);
      execFileSync('prlimit', ['--pid', String(target.daemon.pid), `--data=${data}`]);
      const answers = await openHuge(await greeted(target), 4);
      for (const answer of answers) expect(answer).toMatch(/WRITER_OVERRUN|BRIDGE_NO_MEMORY/);
    });
    target.daemon.kill('SIGTERM');
    expect((await target.daemon.ended).signal).toBe(null);
  });
});

describe('a daemon that may have less memory than --max-memory says', () => {
  const LIMIT = 700 * 1024 * 1024;

  it('says so, grants what it can get, and has its threads', async () => {
    const target = await serveBy(['prlimit', `--data=${LIMIT}`], '--max-memory=20GB');
    await target.daemon.printed(
      'note: --max-memory=21.5 GB is more than the limit of its data (ulimit -d) leaves: traces may take',
    );
    await withstands(target, async () => {
      const peer = await greeted(target);
      for (const answer of await openHuge(peer, 2)) expect(answer).toContain('BRIDGE_NO_MEMORY');
      // As many small ones as there is memory for, and schemas that a thread has to read.
      const answers: string[] = [];
      for (let n = 100; n < 250; n++) {
        const opened = peer.open({ session: sessionId(n), name: `small${n}` });
        answers.push(await opened.then(() => 'opened').catch((error: Error) => error.message));
      }
      const last = answers.findIndex((answer) => answer !== 'opened');
      expect(last).toBeGreaterThan(10);
      for (const answer of answers.slice(last)) expect(answer).toContain('BRIDGE_NO_MEMORY');
      const heavy = peer.open({ session: sessionId(250), name: 'heavy', schema: HEAVY('e') });
      await expect(heavy).rejects.toThrow('BRIDGE_NO_MEMORY');
    });
    target.daemon.kill('SIGTERM');
    expect((await target.daemon.ended).signal).toBe(null);
  });
});

describe('schemas that are much work', () => {
  it('from many connections do not hold up an honest simulator, nor the end of the daemon', async () => {
    const target = await serve();
    await withstands(target, async () => {
      const attackers = await Promise.all(Array.from({ length: 20 }, () => greeted(target)));
      for (const [n, attacker] of attackers.entries())
        for (const req of [1, 2])
          await attacker.control({
            t: 'open',
            req,
            name: `evil${n}_${req}`,
            session: crypto.getRandomValues(new Uint8Array(16)),
            schema: HEAVY(`e${n}_${req}_`),
            credit: 1 << 20,
          });
      // While all that waits, another honest trace is opened and written.
      const honest = await greeted(target);
      const opened = await honest.open({ session: sessionId(50), name: 'second' });
      await honest.data(opened, 0n, 0n, framesFrom(0, 50));
      await honest.control(closeMessage(sessionId(50), opened.trace, 50));
      await honest.next('closed', ['ack']);
      expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(50));
      expect(target.daemon.stderr).not.toContain('opened evil19_2');
    });
    target.daemon.kill('SIGTERM');
    await target.daemon.ended;
    // It did not wait for what had not been read.
    expect(target.daemon.stderr).not.toContain('opened evil19_2');
  });

  it('as small as possible and as large as possible, are refused by number, not by time', async () => {
    const target = await serve();
    const repeated = '$'.concat('{a}').repeat(1000);
    const bombs = [
      `uscope: 1\nvariables: {a: ${'x'.repeat(130_000)}}\ndut: {k0: "${repeated}"}\n`,
      `uscope: 1\nvariables: {a: ${'x'.repeat(60_000)}}\ndut: {k0: "${repeated}"}\n`,
      `a: &a {x: 1}\nb: {<<: [${Array(190_000).fill('*a').join(',')}]}\n`,
    ];
    await withstands(target, async () => {
      const peer = await greeted(target);
      for (const [req, schema] of bombs.entries()) {
        await peer.control({ t: 'open', req, name: 'bomb', session: sessionId(7), schema, credit: 1 << 20 });
        expect(await peer.next('error')).toMatchObject({ req, code: 'SCHEMA_LIMIT' });
      }
    });
    expect(memoryOf(target, 'VmHWM')).toBeLessThan(500);
  });
});

describe('a process with few file descriptors left', () => {
  /** Takes all but some, then tries what needs a connection. */
  const TRY = (left: number) => `import { closeSync, openSync } from 'node:fs';
import { control } from ${JSON.stringify(join(DIST, 'bridge/client/ctl.js'))};
import { Daemon } from ${JSON.stringify(join(DIST, 'bridge/daemon/daemon.js'))};
const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {}
for (const descriptor of taken.splice(-${left} || taken.length)) closeSync(descriptor);
const attempts = [
  () => control('ipc:///nowhere', { action: 'status' }),
  () => Daemon.start({ endpoint: 'ipc:///nowhere', outputDirectory: '/nowhere' }),
];
const codes = [];
for (const attempt of attempts) codes.push(await attempt().then(() => 'done', (error) => error.code));
for (const descriptor of taken) closeSync(descriptor);
console.log(codes.join());
process.exit();
`;

  it.each([0, 1, 2, 3, 4, 5, 8])('gets a code instead of being ended, with %i left', async (left) => {
    const directory = bench.dirs.make();
    const script = join(directory, 'try.mjs');
    writeFileSync(script, TRY(left));
    const command = `ulimit -n 256 && exec "$0" "$1"`;
    const { status, stdout } = await new Running('sh', ['-c', command, process.execPath, script], {
      cwd: directory,
    }).ended;
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'ENV_DESCRIPTORS,ENV_DESCRIPTORS\n',
    });
  });
});
