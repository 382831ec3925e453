/** `uscope info DIRECTORY`: every file is listed, whatever it is, and only its ends are read. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, frame, openSession, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { lockPath } from '../../writer/output/path-lock.js';
import { listRuns } from './listing.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'uscope-runs-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function builder(run: number, core: number): TraceBuilder {
  const id = new Uint8Array(16).fill(run);
  return new TraceBuilder({
    schema: coreSchema,
    dut: [
      ['uscope.run_id', Buffer.from(id).toString('hex')],
      ['uscope.start_time', `2026-01-0${run}T00:00:00.000Z`],
      ['uscope.core', String(core)],
    ],
    session: { ...openSession, runId: id, coreIndex: core },
  }).segment({ frames: [frame(0, set(0, 3, 0, 3)), frame(4000)] });
}
const whole = (run: number, core: number, status: SessionStatus = SessionStatus.CLOSED): Uint8Array =>
  builder(run, core).finalize({ session: { status } }).bytes;

function put(name: string, bytes: Uint8Array): string {
  const path = join(root, `${name}.uscope`);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

describe('a directory', () => {
  it('is listed by run and core, with what is live, unfinished or damaged', async () => {
    put('b/core10', whole(2, 10));
    put('b/core2', whole(2, 2, SessionStatus.CLIENT_LOST));
    put('a/core0', whole(1, 0));
    const live = put('a/core1', builder(1, 1).bytes);
    put('a/core2', builder(1, 2).bytes);
    put('a/cut', whole(1, 3).slice(0, -60));
    put('a/text', Buffer.from('hello'));
    put('foreign', new TraceBuilder({ schema: coreSchema, session: null }).finalize().bytes);
    symlinkSync(root, join(root, 'loop'));
    symlinkSync(join(root, 'gone'), join(root, 'dangling.uscope'));
    const lock = await lockPath(live);
    const { status, out, err } = await runUscope(['info', root]);
    const listed = await runUscope(['info', root, '--json']);
    lock.release();
    expect([status, err]).toEqual([0, '']);
    const blocks = out.split('\n\n');
    expect(blocks.map((block) => block.split('  ')[0])).toEqual([
      `run ${'01'.repeat(16)}`,
      `run ${'02'.repeat(16)}`,
      'no run',
    ]);
    expect(blocks[0]).toMatch(/^run 01\S+ {2}2026-01-01T00:00:00\.000Z {2}4 traces of 4 cores, /);
    expect(blocks[0]).toMatch(/^ {2}a\/core0 +0 +closed +4\.00 ns +4 +1 +[\d.]+ k?B$/m);
    expect(blocks[0]).toMatch(/^ {2}a\/core1 +1 +live +4\.00 ns/m);
    expect(blocks[0]).toMatch(/^ {2}a\/core2 +2 +unfinished .* uscope recover finalizes it$/m);
    expect(blocks[1]).toMatch(/core2 +2 +client lost .*its client did not close it\n.*core10 +10 +closed/);
    expect(blocks[0]).toMatch(/a\/cut +3 +damaged .*FORMAT_TRUNCATED: .*its end is missing$/m);
    expect(blocks[2]).toMatch(/a\/text +- +damaged .*FORMAT_/);
    expect(blocks[2]).toMatch(/dangling +- +damaged .*READER_OPEN/);
    expect(blocks[2]).toMatch(/foreign +- +complete/);
    expect(out).not.toContain('loop');
    const { runs } = JSON.parse(listed.out);
    expect(runs[0]).toMatchObject({
      runId: '01'.repeat(16),
      startTime: '2026-01-01T00:00:00.000Z',
      cores: [0, 1, 2, 3],
      traces: [
        {
          name: 'a/core0',
          state: 'complete',
          status: 'closed',
          totalTimePs: '4000',
          lastCycle: '4',
          reason: null,
        },
        { name: 'a/core1', state: 'live', status: 'open' },
        { name: 'a/core2', state: 'unfinished' },
        { name: 'a/cut', state: 'damaged', totalTimePs: '4000' },
      ],
    });
  });

  it('without traces, and options that are for one trace', async () => {
    const empty = join(root, 'empty');
    mkdirSync(empty);
    expect(await runUscope(['info', empty])).toMatchObject({ status: 0, out: '' });
    expect((await runUscope(['info', empty, '--watch'])).status).toBe(2);
    expect(JSON.parse((await runUscope(['info', empty, '--json'])).out).runs).toEqual([]);
  });

  it('is listed whatever its files hold', async () => {
    const good = readFileSync(put('x/good', whole(1, 0)));
    const mutation = fc.tuple(
      fc.nat(good.length),
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(mutation, async ([length, changes]) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        put('x/bad', bytes.subarray(0, length));
        const runs = await listRuns(join(root, 'x'), () => {});
        const names = runs.flatMap(({ traces }) => traces.map(({ name }) => name)).sort();
        expect(names).toEqual(['bad', 'good']);
      }),
      { numRuns: 150 },
    );
  });
});
