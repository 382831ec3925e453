/** `uscope verify` and `uscope recover` from the command line: output, exit status, what is left on the disk. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  annotate,
  coreSchema,
  frame,
  openSession,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { limitOfFile, PROCESSES_MS } from '../../../test/support/limits.js';
import { type CliResult, runUscope } from '../../../test/support/run-cli.js';
import { Action } from '../format/index.js';
import { RecordKind } from '../format/record.js';
import { RecordBatch } from '../writer/records/record-batch.js';

// Processes are started.
limitOfFile(PROCESSES_MS);

const run = (...args: string[]): Promise<CliResult> => runUscope(args);

const build = () =>
  new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
    .segment({
      frames: [frame(0, set(0, 3, 0, 3), stage(3, 0)), frame(1000, annotate(3, 0))],
      strings: ['nop'],
    })
    .segment({ frames: [frame(2000, stage(3, 1)), frame(3000)] });

let directory: string;
let path: string;
let output: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-health-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let test = 0;
beforeEach(() => {
  path = join(directory, `in${++test}.uscope`);
  output = join(directory, `out${test}.uscope`);
});

function damaged(): Uint8Array {
  const builder = build();
  const bytes = builder.bytes.slice();
  bytes[(builder.offsets[1] ?? 0) + 60] ^= 1;
  return bytes;
}

describe('uscope verify', () => {
  it('exits 0 without errors and says what was checked', async () => {
    writeFileSync(path, build().bytes);
    const { status, out, err } = await run('verify', path);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^info {4}VERIFY_UNPROTECTED: .*an earlier release.*\ninfo {4}VERIFY_UNFINALIZED: .*\n.*: no errors, 2 for information\nchecked: 2 segments, 2 with checksum, 4 frames/,
    );
  });

  it('exits 1 with errors, each with code, offset and meaning', async () => {
    writeFileSync(path, damaged());
    const { status, out } = await run('verify', path, '--json');
    expect(status).toBe(1);
    const report = JSON.parse(out);
    expect(report).toMatchObject({
      ok: false,
      finalized: false,
      session: { status: 'open' },
    });
    expect(report.findings.find(({ severity }: { severity: string }) => severity === 'error')).toMatchObject({
      code: 'FORMAT_CHECKSUM',
      offset: build().offsets[1],
      meaning: 'A CRC-32 does not match the bytes it covers.',
    });
    const lines = (await run('verify', path, '--jsonl')).out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(report.findings);
  });

  it('exits 1 for what is not a trace or not there', async () => {
    writeFileSync(path, 'no trace');
    expect((await run('verify', path)).out).toContain('FORMAT_MAGIC');
    const { status, err } = await run('verify', join(directory, 'absent.uscope'));
    expect([status, err.includes('READER_OPEN')]).toEqual([1, true]);
  });
});

describe('uscope recover', () => {
  it('exits 0 when nothing was lost', async () => {
    writeFileSync(path, build().finalize().bytes);
    const { status, out } = await run('recover', path, '-o', output);
    expect([status, out]).toEqual([
      0,
      `saved   2 segments, 4 frames, 4 items, 1 strings, 0 to 3000 ps\nlost    nothing\n${output}: finalized and verified\n`,
    ]);
    expect((await run('verify', output)).status).toBe(0);
    expect(JSON.parse((await run('info', output, '--json')).out).session.status).toBe('recovered');
  });

  it('exits 3 when something was lost, and says what', async () => {
    writeFileSync(path, damaged());
    const { status, out } = await run('recover', path, '-o', output, '--json');
    expect(status).toBe(3);
    expect(JSON.parse(out)).toMatchObject({
      complete: false,
      saved: { segments: 1, frames: 2 },
      lost: { segments: 1, strings: 0, times: [{ fromPs: '1000', toPs: null }] },
    });
  });

  it('exits 3 when nobody knows how many cycles the client completed', async () => {
    writeFileSync(path, build().bytes);
    const { status, out } = await run('recover', path, '-o', output);
    expect(status).toBe(3);
    expect(out).toContain('client  how many cycles it completed is not known: at least 4\n');
    const { account } = JSON.parse((await run('recover', path, '-o', output, '--force', '--json')).out);
    expect(account).toMatchObject({ completed: null, atLeast: '4', committed: '4', lost: null });
  });

  it('exits 1 when there is nothing to save, or the output exists', async () => {
    writeFileSync(path, 'nothing');
    expect((await run('recover', path, '-o', output)).err).toContain('RECOVER_NOTHING');
    expect(existsSync(output)).toBe(false);
    writeFileSync(path, build().finalize().bytes);
    writeFileSync(output, 'mine');
    const { status, err } = await run('recover', path, '-o', output);
    expect([status, err.includes('WRITER_EXISTS')]).toEqual([1, true]);
    expect((await run('recover', path, '-o', output, '--force')).status).toBe(0);
    expect((await run('recover', path, '-o', path, '--force')).status).toBe(1);
    expect((await run('recover', path)).status).toBe(2);
  });
});

describe('the shared memory of the client', () => {
  const CHUNKS_AT = 4096;
  const memoryPath = () =>
    join(directory, `uscope-${Buffer.from(openSession.sessionId).toString('hex')}.mem`);

  /** Frames 4 and 5 of the trace, of one record each, recorded by a process. */
  function leaveMemory(owner: { pid: number; start: bigint }, lanes?: number): void {
    const batch = new RecordBatch();
    for (const ordinal of [4, 5]) {
      batch.begin(BigInt(ordinal * 1000));
      const at = batch.length;
      batch.op(Action.SET, 0, 4, 0, ordinal, 0);
      if (lanes) batch.words[at] = RecordKind.SET_LANES | (lanes << 8);
      batch.end(1, ordinal);
    }
    const records = new Uint8Array(batch.words.buffer, 0, batch.length * 4);
    const bytes = Buffer.alloc(CHUNKS_AT + 4096);
    bytes.writeUInt32LE(0x4d45_4d75, 0);
    bytes.writeUInt32LE(1, 4);
    bytes.set(openSession.sessionId, 8);
    bytes.writeUInt32LE(owner.pid, 44);
    bytes.writeBigUInt64LE(owner.start, 48);
    bytes.writeUInt32LE(4096, 56);
    bytes.writeUInt32LE(1, 60);
    bytes.writeBigUInt64LE(BigInt(CHUNKS_AT), 64);
    bytes.writeUInt32LE(64, 72);
    bytes.writeUInt32LE(512, 76);
    bytes.writeBigUInt64LE(1n, 512);
    bytes.writeBigUInt64LE(4n, 520);
    bytes.writeBigUInt64LE(BigInt(records.length), 536);
    bytes.set(records, CHUNKS_AT);
    writeFileSync(memoryPath(), bytes, { mode: 0o600 });
  }

  /** A process that has ended. */
  const dead = () => ({ pid: spawnSync('true').pid, start: 1n });
  const living = () => {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    return { pid: process.pid, start: BigInt(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 0) };
  };

  beforeEach(() => {
    vi.stubEnv('USCOPE_SHM_DIR', directory);
    writeFileSync(path, build().bytes);
    rmSync(memoryPath(), { force: true });
    return () => vi.unstubAllEnvs();
  });

  it('is found by the session; its cycles are in the output, and then it is removed', async () => {
    leaveMemory(dead());
    const { status, out } = await run('recover', path, '-o', output);
    expect(status).toBe(0);
    expect(out).toMatch(/6 frames.*0 to 5000 ps\n.*2 of the frames from the client's memory, now removed/);
    expect(existsSync(memoryPath())).toBe(false);
    expect((await run('verify', output)).status).toBe(0);
  });

  it('may hold lane records', async () => {
    const itemsWith = async (lanes?: number): Promise<number> => {
      leaveMemory(dead(), lanes);
      expect((await run('recover', path, '-o', output, '--force')).status).toBe(0);
      return Number(JSON.parse((await run('info', output, '--count', '--json')).out).items);
    };
    expect((await itemsWith(0b11)) - (await itemsWith())).toBe(2);
  });

  it('may be named, kept, or left alone', async () => {
    leaveMemory(dead());
    expect((await run('recover', path, '-o', output, '--no-memory')).out).toMatch(/ 4 frames/);
    const named = await run(
      'recover',
      path,
      '-o',
      output,
      '--force',
      '--memory',
      memoryPath(),
      '--keep-memory',
    );
    expect(named.out).toMatch(/ 6 frames/);
    expect(existsSync(memoryPath())).toBe(true);
  });

  it('of a client that still runs is not touched', async () => {
    leaveMemory(living());
    const { status, out } = await run('recover', path, '-o', output);
    expect([status, out.includes('not used: its client still runs')]).toEqual([3, true]);
    expect((await run('recover', path, '-o', `${output}2`, '--memory', memoryPath())).err).toContain(
      'RECOVER_MEMORY',
    );
    expect(existsSync(memoryPath())).toBe(true);
  });

  it('of another session is refused', async () => {
    leaveMemory(dead());
    const bytes = readFileSync(memoryPath());
    bytes[8] ^= 1;
    writeFileSync(memoryPath(), bytes);
    expect((await run('recover', path, '-o', output, '--memory', memoryPath())).err).toContain(
      'RECOVER_MEMORY',
    );
  });
});
