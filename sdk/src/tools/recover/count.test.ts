/** How many frames `recover` says were lost: with those saved, as many as were written, whenever it says that the number is exact. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { cpuSchema } from '../../../../test/support/schemas.js';
import { align8 } from '../../base/bytes.js';
import { Action, SessionStatus } from '../../format/index.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { RecordWriter } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { type RecoverReport, recoverTrace } from './index.js';

const FRAMES = 400;
const PER_SEGMENT = 100;
const RECORD_CRC_OFFSET = 8;

let directory: string;
let live: Uint8Array;
let closed: Uint8Array;
let starts: number[];
let run = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-recover-count-'));
  const path = join(directory, 'whole.uscope');
  const writer = await RecordWriter.create({
    path,
    schema: cpuSchema(),
    checkpointIntervalPs: PER_SEGMENT * 1000,
    maxDelayMs: 0,
    compression: 'none',
    sessionId: new Uint8Array(16).fill(3),
  });
  const batch = new RecordBatch();
  for (let i = 0; i < FRAMES; i++) {
    batch.begin(BigInt(i) * 1000n);
    batch.op(Action.SET, 0, i % 16, 0, i, 0);
    batch.end(1, i);
  }
  writer.push(batch.words, 0, batch.length);
  await writer.flush();
  live = new Uint8Array(readFileSync(path));
  starts = [...live.keys()].filter(
    (at) => at % 8 === 0 && Buffer.from(live.subarray(at, at + 4)).toString() === 'uSEG',
  );
  expect(starts).toHaveLength(FRAMES / PER_SEGMENT);
  await writer.close({ status: SessionStatus.CLOSED, completed: { frames: BigInt(FRAMES), isExact: true } });
  closed = new Uint8Array(readFileSync(path));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function recover(bytes: Uint8Array): Promise<RecoverReport> {
  const input = join(directory, `in${++run}.uscope`);
  writeFileSync(input, bytes);
  return recoverTrace({ input, output: join(directory, `out${run}.uscope`) });
}

/** Writes over deltas of a segment, and makes its checksum that of the damage: a writer that was wrong, or memory that was. */
function spoil(bytes: Uint8Array, segment: number, at: number, value: number): void {
  const offset = starts[segment];
  const header = decodeSegmentHeader(bytes.subarray(offset, offset + SEGMENT_HEADER_SIZE), offset);
  const deltas = offset + SEGMENT_HEADER_SIZE + header.checkpointSize;
  bytes[deltas + (at % header.deltasCompressedSize)] = value;
  const record = align8(deltas + header.deltasCompressedSize);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const size = view.getUint32(record + 4, true);
  view.setUint32(record + RECORD_CRC_OFFSET, 0, true);
  const end = deltas + header.deltasCompressedSize;
  const crc = crc32(bytes.subarray(record, record + size), crc32(bytes.subarray(offset, end)));
  view.setUint32(record + RECORD_CRC_OFFSET, crc, true);
}

const damage = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), value: fc.integer({ min: 1, max: 255 }) }),
  fc.record({
    kind: fc.constant('spoil' as const),
    at: fc.nat(),
    value: fc.integer({ min: 0, max: 255 }),
    segment: fc.nat(3),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
);
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

/** After the preamble, which its own checksum is for. */
function damaged(whole: Uint8Array, damages: readonly Damage[]): Uint8Array {
  let bytes = whole.slice();
  const [first] = starts;
  for (const one of damages) if (one.kind === 'spoil') spoil(bytes, one.segment, one.at, one.value);
  for (const one of damages) {
    const at = first + (one.at % (whole.length - first));
    if (one.kind === 'cut') bytes = bytes.subarray(0, Math.max(at, first + 1));
    else if (one.kind === 'flip' && at < bytes.length) bytes[at] ^= one.value;
  }
  return bytes.slice();
}

describe('the frames that recover counts as lost', () => {
  it('are counted once in a segment of which a part is saved', async () => {
    const bytes = live.slice();
    const header = decodeSegmentHeader(bytes.subarray(starts[1], starts[1] + SEGMENT_HEADER_SIZE), starts[1]);
    const deltas = starts[1] + SEGMENT_HEADER_SIZE + header.checkpointSize;
    const at = Math.floor(header.deltasCompressedSize / 3);
    for (let i = 0; i < 24; i++) spoil(bytes, 1, at + i, 0xff);
    expect(deltas).toBeGreaterThan(0);
    const { saved, lost } = await recover(bytes);
    expect(saved.frames).toBeGreaterThan(FRAMES - PER_SEGMENT);
    expect(saved.frames).toBeLessThan(FRAMES);
    expect(lost).toMatchObject({ isExact: true, frames: FRAMES - saved.frames });
  });

  it('are not said to be none when it is the last segment that is damaged', async () => {
    const bytes = live.slice();
    bytes[starts[3] + SEGMENT_HEADER_SIZE + 40] ^= 0xff;
    expect((await recover(bytes)).lost.isExact).toBe(false);
  });

  it('are exact in a closed trace whose end is cut off', async () => {
    const { saved, lost, account } = await recover(closed.subarray(0, starts[3] + 8));
    expect(saved.frames).toBe(3 * PER_SEGMENT);
    expect(lost).toMatchObject({ isExact: true, frames: PER_SEGMENT });
    expect(account).toMatchObject({ completed: BigInt(FRAMES), lost: BigInt(PER_SEGMENT) });
  });

  it('and those saved are what was written, when the number is exact', {
    timeout: MANY_CASES_MS,
  }, async () => {
    let exact = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        async (isClosed, damages) => {
          const report = await recover(damaged(isClosed ? closed : live, damages)).catch(() => null);
          if (report === null) return; // nothing can be saved
          const { saved, lost } = report;
          expect(saved.frames + lost.frames).toBeLessThanOrEqual(FRAMES);
          if (!lost.isExact) return;
          exact++;
          expect(saved.frames + lost.frames).toBe(FRAMES);
        },
      ),
      { numRuns: cases(15, 200) },
    );
    expect(exact).toBeGreaterThan(0);
  });
});
