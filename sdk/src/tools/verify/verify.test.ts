import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  set,
  stage,
  TraceBuilder,
} from '../../../../test/support/build-trace.js';
import { cases, stride } from '../../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { cpuSchema } from '../../../../test/support/schemas.js';
import { memorySource } from '../../reader/index.js';
import { TraceWriter } from '../../writer/index.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import type { VerifyReport } from './index.js';
import { verifyTrace } from './index.js';

const check = (bytes: Uint8Array): Promise<VerifyReport> =>
  verifyTrace(memorySource(bytes), { summarizer: createCpuSummarizer, codec: {} });

const codes = (report: VerifyReport, severity: string) =>
  report.findings.filter((finding) => finding.severity === severity).map(({ code }) => code);

let directory: string;
/** A finalized and an unfinalized trace of our writer: several segments, strings, a summary. */
let finalized: Uint8Array;
let live: Uint8Array;
/** Where segments begin, and where the last commit record ends. */
let segments: { start: number; end: number; tail: number };

async function record(path: string, more: { snapshot?: boolean } = {}): Promise<TraceWriter> {
  const writer = await TraceWriter.create({
    path,
    schema: cpuSchema(),
    checkpointIntervalPs: 4000,
    maxDelayMs: 0,
    summarizer: createCpuSummarizer,
    dut: [['dut_name', 'core0']],
  });
  if (more.snapshot) {
    writer.onCheckpoint(({ timePs, storage }) => {
      if (timePs === 8000n) storage('core0/rob', Uint8Array.of(0b1000, 9, 0, 0, 0));
    });
  }
  for (let cycle = 0; cycle < 16; cycle++) {
    writer.beginCycle(cycle * 1000);
    writer.slotSet('core0/entities', cycle % 16, 'entity_id', cycle);
    writer.slotAdd('core0/committed_insns', 0, 'count', 1);
    writer.propSet('core0/rob', 'retire_ptr', cycle);
    if (cycle % 3 === 0) writer.event('core0/annotate', { entity_id: cycle, text: `insn ${cycle}` });
    writer.endCycle();
  }
  return writer;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-verify-'));
  const path = join(directory, 'core0.uscope');
  const writer = await record(path);
  await writer.flush();
  live = new Uint8Array(readFileSync(path));
  await writer.close();
  finalized = new Uint8Array(readFileSync(path));
  const view = new DataView(live.buffer, live.byteOffset);
  segments = { start: view.getUint32(28, true), tail: Number(view.getBigUint64(40, true)), end: live.length };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('an undamaged trace', () => {
  it('has no findings, and everything in it was looked at', async () => {
    const report = await check(finalized);
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({
      ok: true,
      finalized: true,
      segments: 4,
      checksums: 4,
      frames: 16,
      items: 54,
      strings: 6,
    });
    expect([report.firstTimePs, report.lastTimePs]).toEqual([0n, 15_000n]);
  });

  it('that is still being written is reported as such, and is not an error', async () => {
    const report = await check(live);
    expect(report).toMatchObject({ ok: true, finalized: false, segments: 4, frames: 16 });
    expect(report.findings.map(({ code, severity }) => [severity, code])).toEqual([
      ['info', 'VERIFY_UNFINALIZED'],
    ]);
  });

  it('may have bytes after what was committed', async () => {
    const report = await check(
      Uint8Array.of(...live, ...finalized.subarray(segments.tail, segments.tail + 90)),
    );
    expect(report.ok).toBe(true);
    expect(codes(report, 'info')).toEqual(['VERIFY_UNFINALIZED', 'VERIFY_UNCOMMITTED']);
  });
});

describe('a flipped bit', { timeout: MANY_CASES_MS }, () => {
  it.each([
    ['finalized', stride(7), () => finalized],
    ['live', stride(23), () => live], // its segments are the same bytes
  ])('anywhere after the preamble of a %s trace is found', async (_, step, bytes) => {
    const whole = bytes();
    for (let at = segments.start; at < whole.length; at += step) {
      const damaged = whole.slice();
      damaged[at] ^= 1 << ((at * 5) % 8);
      const { findings, counts } = await check(damaged);
      expect(counts.error + counts.warning, `byte ${at}`).toBeGreaterThan(0);
      // What the commit record covers is an error; padding is covered by none.
      const isPadding = findings.every(({ detail }) => /padding|reserved|not finalized/.test(detail));
      if (at < segments.end && !isPadding) expect(counts.error, `byte ${at}`).toBeGreaterThan(0);
    }
  });

  it('in the preamble or header never ends the check with a crash; those of the header are found', async () => {
    const HEADER = 48;
    for (let at = 0; at < segments.start; at += at < HEADER ? 1 : stride(11)) {
      for (const whole of [finalized, live]) {
        const damaged = whole.slice();
        damaged[at] ^= 1 << (at % 8);
        const { counts } = await check(damaged);
        const isAdvisory = whole === live && ((at >= 16 && at < 28) || (at >= 32 && at < 40)); // not used until finalized
        if (at < HEADER && !isAdvisory)
          expect(counts.error + counts.warning, `byte ${at}`).toBeGreaterThan(0);
      }
    }
  });

  it('in each of three segments gives three errors, each at its own place', async () => {
    const damaged = finalized.slice();
    const places = [...starts(live)].slice(0, 3);
    for (const at of places) damaged[at + 70] ^= 4;
    const report = await check(damaged);
    const wrong = report.findings
      .filter(({ code }) => code === 'FORMAT_CHECKSUM')
      .map(({ offset }) => offset);
    expect(wrong).toEqual(places);
    expect(report).toMatchObject({ segments: 4, checksums: 1 });
  });
});

describe('a trace cut at any byte', { timeout: MANY_CASES_MS }, () => {
  it('is damaged if it was finalized', async () => {
    for (let size = 0; size < finalized.length; size += stride(7)) {
      const report = await check(finalized.slice(0, size));
      expect(report.ok, `cut at ${size}`).toBe(false);
    }
  });

  it('is damaged if it was live and anything committed is missing', async () => {
    for (let size = 0; size < live.length; size += stride(7))
      expect((await check(live.slice(0, size))).ok, `cut at ${size}`).toBe(false);
  });
});

describe('checkpoints', () => {
  it('that the model replaced are information', async () => {
    const path = join(directory, 'snapshot.uscope');
    await (await record(path, { snapshot: true })).close();
    const report = await check(new Uint8Array(readFileSync(path)));
    expect(report.ok).toBe(true);
    expect(report.findings.map(({ severity, code }) => [severity, code])).toEqual([
      ['info', 'VERIFY_SNAPSHOT'],
    ]);
    expect(report.findings[0]?.detail).toMatch(
      /"rob" in the checkpoint at 8000 ps: slot 3 is valid, by replay it is not/,
    );
  });

  it('that differ from replay are errors, told with storage and field', async () => {
    const bytes = new TraceBuilder({ schema: coreSchema, checkpointsAfter: true })
      .segment({ frames: [frame(0, set(0, 3, 0, 3))] })
      .segment({ frames: [frame(2000, set(0, 3, 0, 4), add(3, 0, 0, 2))] })
      .segment({ frames: [frame(4000, clear(0, 3))] })
      .finalize().bytes;
    const report = await check(bytes);
    expect(new Set(codes(report, 'error'))).toContain('VERIFY_CHECKPOINT');
    expect(report.findings.map(({ detail }) => detail).join('\n')).toMatch(
      /slot 3, field "entity_id" is 4, by replay 3/,
    );
  });

  it('of another writer that stores them after their segments are a warning', async () => {
    const bytes = new TraceBuilder({ schema: coreSchema, checkpointsAfter: true, session: null })
      .segment({ frames: [frame(0, set(0, 3, 0, 3))] })
      .segment({ frames: [frame(2000, set(0, 3, 0, 4), add(3, 0, 0, 2))] })
      .finalize().bytes;
    const report = await check(bytes);
    expect(report.ok).toBe(true);
    expect(codes(report, 'warning')).toContain('VERIFY_OTHER_WRITER');
  });
});

describe('cross references', () => {
  const build = () =>
    new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
      .segment({ frames: [frame(0, set(0, 1, 0, 1), annotate(1, 0))], strings: ['nop'] })
      .segment({ frames: [frame(3000, stage(1, 1))] });

  it.each([
    ['num_segments', 24, 'VERIFY_HEADER'],
    ['total_time_ps', 16, 'VERIFY_HEADER'],
    ['tail_offset', 40, 'FORMAT_CHAIN'],
  ])('%s of the header is held against what is there', async (_, at, code) => {
    const bytes = build().finalize().bytes.slice();
    bytes[at] ^= 1;
    expect(codes(await check(bytes), 'error')).toContain(code);
  });

  it('names of strings that do not exist are errors', async () => {
    const bytes = build()
      .segment({ frames: [frame(5000, annotate(1, 7))] })
      .finalize().bytes;
    expect(codes(await check(bytes), 'error')).toContain('FORMAT_ID');
  });

  it('a summary that is not that of the frames is an error', async () => {
    const summary = {
      baseIntervalCycles: 1024,
      fanOut: 4,
      totalInstructions: 5n,
      density: [Uint32Array.of(5)],
      counters: [],
    };
    const report = await check(build().finalize({ summary }).bytes);
    expect(codes(report, 'error')).toEqual(['VERIFY_SUMMARY']);
    expect(report.findings.at(-1)?.detail).toMatch(/counts 5 instructions, the frames give 1/);
  });

  it('a finalized trace whose session is open is an error', async () => {
    const bytes = build().finalize({ session: { status: 0 } }).bytes;
    expect(codes(await check(bytes), 'error')).toContain('VERIFY_HEADER');
  });
});

describe('bytes that are not a trace', () => {
  it('give findings, whatever they are', async () => {
    const header = fc.constantFrom(
      new Uint8Array(0),
      finalized.subarray(0, 48),
      finalized.subarray(0, segments.start),
    );
    await fc.assert(
      fc.asyncProperty(header, fc.uint8Array({ maxLength: 600 }), async (start, noise) => {
        expect((await check(Uint8Array.of(...start, ...noise))).ok).toBe(false);
      }),
      { numRuns: cases(20, 240) },
    );
  });

  it('do not take for ever when they are full of beginnings of segments', async () => {
    const bytes = new Uint8Array(segments.start + 400_000);
    bytes.set(finalized.subarray(0, segments.start));
    const one = finalized.subarray(segments.start, segments.start + 56).slice();
    new DataView(one.buffer).setUint32(36, 100_000, true);
    for (let at = segments.start + 8; at + 56 < bytes.length; at += 56) bytes.set(one, at);
    const before = process.cpuUsage();
    expect((await check(bytes)).ok).toBe(false);
    const { user, system } = process.cpuUsage(before); // other programs do not count
    expect((user + system) / 1e6).toBeLessThan(5);
  });
});

/** Offsets of the segments of a live file of ours. */
function* starts(bytes: Uint8Array): Generator<number> {
  const buffer = Buffer.from(bytes);
  for (let at = segments.start; at >= 0; at = buffer.indexOf('uSEG', at + 1)) yield at;
}
