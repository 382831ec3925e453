import {
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  coreSchema,
  frame,
  set,
  stage,
  TraceBuilder,
} from '../../../../test/support/build-trace.js';
import { stride } from '../../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { cpuSchema } from '../../../../test/support/schemas.js';
import { Action, SessionStatus } from '../../format/index.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { DIRECTORY_SECTION } from '../../trace-index/directory/format.js';
import { openIndex } from '../../trace-index/index.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { RecordWriter } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { verifyTrace } from '../verify/index.js';
import { type RecordMemory, type RecoverReport, recoverTrace } from './index.js';

const FRAMES = 24;
const PER_SEGMENT = 6;
const sessionId = new Uint8Array(16).fill(3);

let directory: string;
let input: string;
let output: string;
let finalized: Uint8Array;
let live: Uint8Array;
let starts: number[];

/** A counter, an entity and, every third frame, a string with the event that names it. */
function records(from: number, to: number): RecordBatch {
  const batch = new RecordBatch();
  for (let i = from; i < to; i++) {
    if (i % 3 === 0) batch.string(i / 3, new TextEncoder().encode(`text ${i}`));
    batch.begin(BigInt(i) * 1000n);
    batch.op(Action.ADD, 1, 0, 0, 1, 0);
    batch.op(Action.SET, 0, i % 16, 0, i, 0);
    if (i % 3 === 0) {
      const { view, offset } = batch.event(1, 8);
      view.setUint32(offset, i, true);
      view.setUint32(offset + 4, i / 3, true);
    }
    batch.end(i % 3 === 0 ? 3 : 2, i);
  }
  return batch;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-recover-'));
  const path = join(directory, 'whole.uscope');
  const writer = await RecordWriter.create({
    path,
    schema: cpuSchema(),
    checkpointIntervalPs: PER_SEGMENT * 1000,
    maxDelayMs: 0,
    sessionId,
    summarizer: createCpuSummarizer,
  });
  const batch = records(0, FRAMES);
  writer.push(batch.words, 0, batch.length);
  await writer.flush();
  live = new Uint8Array(readFileSync(path));
  await writer.close({ status: SessionStatus.CLOSED });
  finalized = new Uint8Array(readFileSync(path));
  starts = [...live.keys()].filter(
    (at) => at % 8 === 0 && Buffer.from(live.subarray(at, at + 4)).toString() === 'uSEG',
  );
  expect(starts).toHaveLength(FRAMES / PER_SEGMENT);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let run = 0;
beforeEach(() => nextPaths());

function nextPaths(): void {
  input = join(directory, `in${++run}.uscope`);
  output = join(directory, `out${run}.uscope`);
}

async function recover(bytes: Uint8Array, more: { memory?: RecordMemory } = {}): Promise<RecoverReport> {
  nextPaths();
  writeFileSync(input, bytes);
  const memory = more.memory ? () => more.memory ?? null : undefined;
  const report = await recoverTrace({
    input,
    output,
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
    memory,
  });
  expect(Buffer.compare(readFileSync(input), bytes)).toBe(0);
  return report;
}

/** Frame times, and the texts of annotations. */
async function contentOf(path: string) {
  const trace = await openTrace(memorySource(new Uint8Array(readFileSync(path))));
  if (trace.isInterleaved && trace.segmentCount > 0) {
    const index = await openIndex(trace);
    expect(index?.origin).toBe('trace');
    expect(trace.section(DIRECTORY_SECTION)).not.toBeNull();
    expect(trace.warnings.filter(({ kind }) => kind === 'index-damaged')).toEqual([]);
  }
  const cycles: number[] = [];
  const texts: (string | null)[] = [];
  for await (const { timePs, items } of trace.frames()) {
    cycles.push(Number(timePs / 1000n));
    for (const item of items) {
      if (item.kind === 'event' && item.eventTypeId === 1)
        texts.push(await trace.strings.get(item.payload[4] ?? 0));
    }
  }
  const state = await trace.stateAt(trace.totalTimePs);
  return { trace, cycles, texts, count: state.slotField('core0/committed_insns', 0, 'count') };
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i);

describe('a trace whose preamble is damaged', () => {
  /** One letter of a name: the schema stays one that can be read. */
  function renamed(): Uint8Array {
    const bytes = finalized.slice();
    const at = Buffer.from(bytes.buffer).indexOf('committed_insns');
    bytes[at] = 'k'.charCodeAt(0);
    return bytes;
  }

  it('keeps its frames, says what is in doubt, and never that nothing was lost', async () => {
    const report = await recover(renamed());
    expect(report).toMatchObject({ complete: false, saved: { frames: FRAMES }, lost: { frames: 0 } });
    expect(report.untrusted).toMatch(/^the preamble: its checksum does not hold/);
    expect(report.findings).toMatchObject([{ severity: 'error', code: 'FORMAT_CHECKSUM', offset: 48 }]);
  });

  it('passes the doubt on to its output, which is consistent in itself, and to what is recovered from that', async () => {
    await recover(renamed());
    const first = new Uint8Array(readFileSync(output));
    const { findings, ok } = await verifyTrace(memorySource(first), { summarizer: createCpuSummarizer });
    expect(ok).toBe(true);
    expect(findings).toMatchObject([{ severity: 'warning', code: 'VERIFY_DOUBTFUL' }]);
    const trace = await openTrace(memorySource(first));
    expect(trace.warnings).toMatchObject([{ kind: 'damaged-preamble' }]);
    expect(await recover(first)).toMatchObject({ complete: false, lost: { frames: 0 } });
  });

  it('is read all the same, with a warning that names the code and the place', async () => {
    const trace = await openTrace(memorySource(renamed()));
    expect(trace.warnings).toMatchObject([
      { kind: 'damaged-preamble', message: expect.stringMatching(/FORMAT_CHECKSUM, offset 48/) },
    ]);
    expect((await openTrace(memorySource(finalized))).warnings).toEqual([]);
  });
});

describe('an unfinalized trace', () => {
  it('becomes a finalized one with everything in it, of status "recovered"', async () => {
    const report = await recover(live);
    expect(report).toMatchObject({ complete: true, saved: { segments: 4, frames: FRAMES, strings: 8 } });
    const { trace, cycles, texts } = await contentOf(output);
    expect(trace.isComplete).toBe(true);
    expect(trace.session).toMatchObject({ status: SessionStatus.RECOVERED, sessionId, lost: 0n });
    expect(cycles).toEqual(upTo(FRAMES));
    expect(texts).toEqual(upTo(8).map((i) => `text ${3 * i}`));
    expect((await trace.summary())?.totalInstructions).toBe(BigInt(FRAMES));
  });

  it('without a single segment becomes an empty one', async () => {
    const report = await recover(live.slice(0, starts[0]).fill(0, 16, 28).fill(0, 32, 48));
    expect(report).toMatchObject({ complete: true, saved: { segments: 0, frames: 0 } });
  });

  it('keeps a segment that was written and not linked', async () => {
    const bytes = live.slice();
    new DataView(bytes.buffer).setBigUint64(40, BigInt(starts[2] ?? 0), true);
    expect(await recover(bytes)).toMatchObject({ complete: true, saved: { segments: 4 } });
  });

  it('ends before what was never acknowledged and is torn, and says so', async () => {
    const bytes = live.slice();
    new DataView(bytes.buffer).setBigUint64(40, BigInt(starts[1] ?? 0), true);
    bytes[(starts[2] ?? 0) + 80] ^= 1;
    const report = await recover(bytes);
    expect(report).toMatchObject({
      complete: false,
      saved: { segments: 2 },
      lost: { segments: 2, frames: 12 },
    });
    expect((await contentOf(output)).cycles).toEqual(upTo(12));
  });
});

describe('a damaged trace', () => {
  it('loses the segment that was hit, and no other', async () => {
    for (const [hit, start] of starts.entries()) {
      for (const [place, at] of [0, 9, 33, 60, 100].entries()) {
        if ((place + hit) % stride(2) !== 0) continue;
        const bytes = finalized.slice();
        bytes[start + at] ^= 0x10;
        const report = await recover(bytes);
        const left = upTo(FRAMES).filter((frame_) => Math.floor(frame_ / PER_SEGMENT) !== hit);
        const { cycles, count } = await contentOf(output);
        expect(cycles, `segment ${hit}, byte ${at}`).toEqual(left);
        expect(count).toBe(BigInt(hit === 3 ? 18 : FRAMES)); // the checkpoint after the gap counts what is lost
        expect(report.complete).toBe(false);
        expect(report.lost.segments, `segment ${hit}, byte ${at}`).toBe(1);
        if (hit < 3) expect(report.lost.frames, `segment ${hit}, byte ${at}`).toBe(PER_SEGMENT);
      }
    }
  });

  it('takes the strings of a lost segment from the string table', async () => {
    const bytes = finalized.slice();
    bytes[(starts[1] ?? 0) + 60] ^= 1;
    const report = await recover(bytes);
    expect(report.lost.strings).toBe(0);
    const { trace, texts } = await contentOf(output);
    expect(texts).toEqual([0, 3, 12, 15, 18, 21].map((i) => `text ${i}`));
    expect(await trace.strings.get(2)).toBe('text 6');
  });

  it('keeps the indices of strings whose text is lost', async () => {
    const bytes = live.slice();
    bytes[(starts[1] ?? 0) + 60] ^= 1;
    const report = await recover(bytes);
    expect(report.lost).toMatchObject({ strings: 2, frames: 6, times: [{ fromPs: 5000n, toPs: 12_000n }] });
    const { trace, texts } = await contentOf(output);
    expect(texts).toEqual(['text 0', 'text 3', '<lost>', 'text 15', 'text 18', 'text 21']);
    expect(await trace.strings.get(3)).toBe('<lost>');
  });

  it('is read by its segments where the header lies about compression', async () => {
    for (const mask of [0x02, 0x08, 0x80, 0x28]) {
      const bytes = finalized.slice();
      bytes[8] ^= mask;
      expect(await recover(bytes), `flags ^ ${mask}`).toMatchObject({
        complete: true,
        saved: { frames: FRAMES },
      });
    }
  });

  it('cut anywhere gives all segments in front of the cut', { timeout: MANY_CASES_MS }, async () => {
    const ends = starts.slice(1).concat(live.length);
    for (let size = 0; size < finalized.length; size += 83 * stride(3)) {
      const whole = ends.filter((end) => end <= size).length;
      const bytes = finalized.slice(0, size);
      if (whole === 0) {
        await expect(recover(bytes), `cut at ${size}`).rejects.toMatchObject({ code: 'RECOVER_NOTHING' });
        continue;
      }
      const report = await recover(bytes);
      expect((await contentOf(output)).cycles, `cut at ${size}`).toEqual(upTo(whole * PER_SEGMENT));
      expect(report.complete, `cut at ${size}`).toBe(whole === 4);
    }
  });

  it('with any one bit flipped gives at least the segments that were not hit', {
    timeout: MANY_CASES_MS,
  }, async () => {
    for (let at = 0; at < finalized.length; at += 107 * stride(3)) {
      const bytes = finalized.slice();
      bytes[at] ^= 1 << (at % 8);
      const report = await recover(bytes).catch((error: { code: string }) => error.code);
      if (typeof report === 'string') {
        expect(report, `byte ${at}`).toBe('RECOVER_NOTHING');
        expect(at, 'only without a schema').toBeLessThan(starts[0] ?? 0);
      } else expect(report.saved.frames, `byte ${at}`).toBeGreaterThanOrEqual(FRAMES - PER_SEGMENT);
    }
  });
});

describe('a trace of another writer', () => {
  const build = (compression: 'none' | 'lz4') =>
    new TraceBuilder({ schema: coreSchema, session: null, compression })
      .segment({
        frames: [frame(0, set(0, 1, 0, 1), annotate(1, 0)), frame(1000, stage(1, 1))],
        strings: ['nop'],
      })
      .segment({
        frames: upTo(60).map((i) => frame(2000 + i * 1000, add(3, 0, 0, i), set(0, i % 12, 1, i))),
      });

  it.each(['none', 'lz4'] as const)(
    'that was cut (%s) gives the frames in front of the cut',
    async (compression) => {
      const builder = build(compression);
      const cut = builder.bytes.length - 40;
      const report = await recover(builder.bytes.slice(0, cut));
      expect(report.complete).toBe(false);
      expect(report.saved.frames).toBeGreaterThan(20);
      expect(report.saved.frames).toBeLessThan(62);
      expect(report.lost).toMatchObject({ segments: 1, frames: 62 - report.saved.frames });
      const { cycles, trace } = await contentOf2(output);
      expect(cycles).toEqual(upTo(report.saved.frames));
      expect(trace.session?.status).toBe(SessionStatus.RECOVERED);
    },
  );

  it('that stores checkpoints after its segments gets them before its segments', async () => {
    const bytes = new TraceBuilder({ schema: coreSchema, session: null, checkpointsAfter: true })
      .segment({ frames: [frame(0, add(3, 0, 0, 5))] })
      .segment({ frames: [frame(2000, add(3, 0, 0, 7))] })
      .finalize().bytes;
    expect((await recover(bytes)).complete).toBe(true);
    const trace = await openTrace(memorySource(new Uint8Array(readFileSync(output))));
    expect((await trace.stateAt(0)).slotField(3, 0, 0)).toBe(5n);
    expect((await trace.stateAt(2000)).slotField(3, 0, 0)).toBe(12n);
  });

  it('keeps its strings', async () => {
    expect((await recover(build('lz4').finalize().bytes)).complete).toBe(true);
    const trace = await openTrace(memorySource(new Uint8Array(readFileSync(output))));
    expect(await trace.strings.get(0)).toBe('nop');
  });

  async function contentOf2(path: string) {
    const trace = await openTrace(memorySource(new Uint8Array(readFileSync(path))));
    const cycles: number[] = [];
    for await (const { timePs } of trace.frames()) cycles.push(Number(timePs / 1000n));
    return { trace, cycles };
  }
});

describe('the memory of a dead client', () => {
  const memoryOf = (from: number, to: number): RecordMemory => ({
    records: () => {
      const batch = records(from, to);
      return [batch.words.slice(0, batch.length)];
    },
  });

  it('brings the cycles that were never sent; those in the file are not taken twice', async () => {
    const report = await recover(live, { memory: memoryOf(15, 40) });
    expect(report).toMatchObject({
      complete: true,
      framesFromMemory: 16,
      memoryProblem: null,
      saved: { frames: 40 },
    });
    const { cycles, count, texts } = await contentOf(output);
    expect(cycles).toEqual(upTo(40));
    expect(count).toBe(40n);
    expect(texts.at(-1)).toBe('text 39');
  });

  it('makes good what was torn after the commit point', async () => {
    const bytes = live.slice();
    new DataView(bytes.buffer).setBigUint64(40, BigInt(starts[1] ?? 0), true);
    bytes[(starts[2] ?? 0) + 80] ^= 1;
    const report = await recover(bytes, { memory: memoryOf(12, 30) });
    expect(report).toMatchObject({ complete: true, framesFromMemory: 18, saved: { frames: 30 } });
  });

  it('that begins after what the file holds is not used, and that is reported', async () => {
    const report = await recover(live, { memory: memoryOf(30, 40) });
    expect(report).toMatchObject({ framesFromMemory: 0, saved: { frames: FRAMES } });
    expect(report.memoryProblem).toMatch(/string 10 follows string 7/);
  });
});

describe('files that are where the output shall go', () => {
  it('are not replaced unless told to; then only by a whole file', async () => {
    writeFileSync(input, live);
    writeFileSync(output, 'precious');
    await expect(recoverTrace({ input, output })).rejects.toMatchObject({ code: 'WRITER_EXISTS' });
    writeFileSync(input, 'noise');
    await expect(recoverTrace({ input, output, force: true })).rejects.toMatchObject({
      code: 'RECOVER_NOTHING',
    });
    expect(readFileSync(output, 'utf8')).toBe('precious');
    writeFileSync(input, live);
    expect((await recoverTrace({ input, output, force: true })).complete).toBe(true);
    expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('are never the input, under whatever name', async () => {
    writeFileSync(input, live);
    linkSync(input, output);
    const other = `${output}.link`;
    symlinkSync(input, other);
    for (const path of [input, output, other]) {
      await expect(recoverTrace({ input, output: path, force: true })).rejects.toMatchObject({
        code: 'WRITER_EXISTS',
      });
    }
    expect(Buffer.compare(readFileSync(input), live)).toBe(0);
  });
});
