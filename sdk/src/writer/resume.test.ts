import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DecodedFile, decodeFile } from '../../../test/support/decode-file.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { cpuSchema } from '../../../test/support/schemas.js';
import { Action, SessionStatus } from '../format/index.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';
import { resumeTrace } from './resume.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-resume-'));
  path = join(directory, 'core0.uscope');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const sessionId = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
const options = (more: object = {}) => ({
  path,
  schema: cpuSchema(),
  checkpointIntervalPs: 10_000,
  maxDelayMs: 0,
  sessionId,
  ...more,
});
const CLOSED = { status: SessionStatus.CLOSED };
const FRAMES = 100;

/** Frames `from`..`to`: a counter, an entity and, every tenth frame, a string. */
function stream(from: number, to: number): RecordBatch {
  const batch = new RecordBatch();
  for (let i = from; i < to; i++) {
    if (i % 10 === 0) batch.string(i / 10, new TextEncoder().encode(`text ${i}`));
    batch.begin(BigInt(i) * 1000n);
    batch.op(Action.ADD, 1, 0, 0, 1, 0);
    batch.op(Action.SET, 0, i % 16, 1, i, i);
    batch.end(2, i);
  }
  return batch;
}

const push = (writer: RecordWriter, batch: RecordBatch) => writer.push(batch.words, 0, batch.length);
const frames = (file: DecodedFile) => file.segments.flatMap((s) => s.frames);

async function undisturbed(): Promise<DecodedFile> {
  const writer = await RecordWriter.create(options({ path: join(directory, 'undisturbed.uscope') }));
  push(writer, stream(0, FRAMES));
  await writer.close(CLOSED);
  return decodeFile(writer.path);
}

/** A trace left after `committed` frames were made durable and more were taken; returns its bytes. */
async function abandoned(committed: number): Promise<Uint8Array> {
  const writer = await RecordWriter.create(options());
  push(writer, stream(0, committed));
  await writer.flush();
  const bytes = readFileSync(path);
  await writer.close(CLOSED);
  writeFileSync(path, bytes);
  return bytes;
}

describe('a trace whose daemon was killed', () => {
  it('continues where it was durable and ends like an undisturbed one', async () => {
    const expected = await undisturbed();
    for (const committed of [1, 37, 40, 99, 100]) {
      await abandoned(committed);
      const writer = await resumeTrace(options());
      expect(writer?.nextFrame).toBe(BigInt(committed));
      expect(writer?.nextString).toBe(BigInt(Math.ceil(committed / 10)));
      push(writer!, stream(0, FRAMES)); // the client resends everything; what is there is skipped
      const stats = await writer!.close(CLOSED);
      const file = decodeFile(path);
      expect(frames(file)).toEqual(frames(expected));
      expect(file.strings).toEqual(expected.strings);
      expect(stats.items).toBe(BigInt(2 * FRAMES));
    }
  });

  it('survives being cut at any byte after its preamble: a prefix of segments remains', async () => {
    const whole = await abandoned(FRAMES);
    const header = decodeFile(path).header;
    const keep = join(directory, 'keep');
    copyFileSync(path, keep);
    const positions = Array.from({ length: 60 }, (_, i) => whole.length - i * 13).filter(
      (at) => at > header.preambleEnd,
    );
    for (const size of positions) {
      copyFileSync(keep, path);
      truncateSync(path, size);
      zeroTail(path); // as after a crash between the segment's write and its commit point
      const writer = await resumeTrace(options());
      const durable = Number(writer!.nextFrame);
      expect(durable).toBeLessThanOrEqual(FRAMES);
      push(writer!, stream(durable, FRAMES));
      await writer!.close(CLOSED);
      expect(frames(decodeFile(path))).toHaveLength(FRAMES);
    }
  });

  it('takes a segment that was written but not yet linked', async () => {
    await abandoned(50);
    zeroTail(path);
    const writer = await resumeTrace(options());
    expect(writer?.nextFrame).toBe(50n);
    await writer!.close(CLOSED);
  });

  it('is opened again when it was finalized but its client never learned so', async () => {
    const first = await RecordWriter.create(options());
    push(first, stream(0, FRAMES));
    const closed = await first.close(CLOSED);
    const again = await resumeTrace(options());
    expect(again?.nextFrame).toBe(BigInt(FRAMES));
    const stats = await again!.close(CLOSED);
    expect(stats).toEqual(closed);
    expect(frames(decodeFile(path))).toHaveLength(FRAMES);
  });
});

describe('what is not this session is not resumed', () => {
  it('no file', async () => {
    expect(await resumeTrace(options())).toBeNull();
  });

  it('another session', async () => {
    await abandoned(10);
    expect(await resumeTrace(options({ sessionId: new Uint8Array(16).fill(9) }))).toBeNull();
  });

  it('a file whose creation was cut short', async () => {
    const bytes = await abandoned(10);
    writeFileSync(path, bytes.subarray(0, 100));
    expect(await resumeTrace(options())).toBeNull();
  });

  it('a damaged committed segment is reported, with the place, and nothing is touched', async () => {
    const bytes = Uint8Array.from(await abandoned(FRAMES));
    const third = decodeFile(path).segments[3].offset;
    bytes[third + 60] ^= 1;
    writeFileSync(path, bytes);
    await expect(resumeTrace(options())).rejects.toMatchObject({
      code: 'FORMAT_CHECKSUM',
      place: { file: path, offset: third },
    });
    expect(Buffer.compare(readFileSync(path), bytes)).toBe(0);
  });
});

describe('a damaged preamble', () => {
  it('is not continued by names that nobody recorded with: every flipped bit of its text is refused, and nothing is touched', async () => {
    const bytes = Uint8Array.from(await abandoned(FRAMES));
    const { preambleEnd } = decodeFile(path).header;
    const names = Buffer.from(bytes.subarray(0, preambleEnd)).indexOf('core0');
    for (let at = names; at < names + 5; at++) {
      bytes[at] ^= 1;
      writeFileSync(path, bytes);
      await expect(resumeTrace(options())).rejects.toMatchObject({
        code: 'FORMAT_CHECKSUM',
        place: { file: path, offset: 48 },
      });
      expect(Buffer.compare(readFileSync(path), bytes)).toBe(0);
      bytes[at] ^= 1;
    }
  });
});

/** Makes the header say that no segment is committed. */
function zeroTail(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0, 24, 28);
  bytes.fill(0, 40, 48);
  writeFileSync(file, bytes);
}
