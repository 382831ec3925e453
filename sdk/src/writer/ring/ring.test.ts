/** A ring against the plain trace of the same frames. */
import { cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { wordsOf } from '../../../../test/support/random-trace.js';
import {
  ANNOTATE,
  annotated,
  anySteps,
  CLOSED,
  eachInNewDirectory,
  expectTail,
  killRecorders,
  plainOf,
  push,
  records,
  ringOptions,
  sessionId,
  watchedOutput,
} from '../../../../test/support/ring-traces.js';
import { Action, SessionStatus } from '../../format/index.js';
import { fileSource, nodeCodec, openTraceFile } from '../../reader/node.js';
import { verifyTrace } from '../../tools/verify/index.js';
import type { OpenOutput } from '../output/output-file.js';
import { RecordBatch } from '../records/record-batch.js';
import { createCpuSummarizer } from '../summary/cpu-summarizer.js';
import { createRing, recoverSpool, resumeRing } from './index.js';

// Properties of recordings, each of many segments.
limitOfFile(MANY_CASES_MS);

let directory: string;
let path: string;
eachInNewDirectory((made) => {
  directory = made;
  path = join(made, 'core0.uscope');
});

describe('a ring', () => {
  it('ends as the tail of the plain trace, item by item and state by state', async () => {
    let expired = 0;
    await fc.assert(
      fc.asyncProperty(
        anySteps,
        fc.constantFrom(1n, 30_000n, 100_000_000n),
        fc.nat(5),
        async (steps, spanPs, chunk) => {
          const plain = await plainOf(directory, [records(steps, 0, steps.length)]);
          const writer = await createRing(ringOptions(path), { span: { ps: spanPs } });
          for (let from = 0; from < steps.length; from += chunk + 1) {
            push(writer, records(steps, from, Math.min(from + chunk + 1, steps.length)));
            if (from % 7 === 0) await writer.flush();
          }
          const stats = await writer.close(CLOSED);
          expect(stats.status).toBe(SessionStatus.RING);
          expect(existsSync(join(directory, 'core0.ring'))).toBe(false);
          expired += stats.ring.expiredSegments;
          await expectTail(path, plain);
          await plain.close();
        },
      ),
      { numRuns: cases(3, 40) },
    );
    expect(expired).toBeGreaterThan(0);
  });

  it('keeps every string that is still referred to, under its own number', async () => {
    const writer = await createRing(ringOptions(path), { span: { ps: 25_000n } });
    for (let i = 0; i < 30; i++) {
      push(writer, annotated(i, i));
      await writer.flush();
    }
    // Old strings, from segments let go long before.
    push(writer, annotated(30, 3));
    push(writer, annotated(31, 17));
    const { ring, strings } = await writer.close(CLOSED);
    expect(ring.expiredSegments).toBeGreaterThan(20);
    expect(strings).toBe(30n);
    const trace = await openTraceFile(path);
    const words = await wordsOf(trace);
    expect(words.slice(-2)).toEqual([
      '600000 core0/annotate 5 text string 3',
      '620000 core0/annotate 5 text string 17',
    ]);
    expect(await trace.strings.count()).toBeLessThan(6);
    await trace.close();
  });

  it('never takes more disk than the ring and one segment, or twice that while a file is made', async () => {
    const maxBytes = 128 * 1024;
    const spool = join(directory, 'core0.ring');
    const sizes: number[] = [];
    const watched: OpenOutput = async (...file) => {
      sizes.push(diskBytes(spool));
      return watchedOutput(...file);
    };
    const writer = await createRing(ringOptions(path, { openOutput: watched, compression: 'none' }), {
      maxBytes,
    });
    let largest = 0;
    for (let i = 0; i < 300; i++) {
      push(writer, noise(i, 60));
      if (i % 20 === 0) await writer.flush();
      if (i === 150) writer.trigger('by hand');
      largest = Math.max(largest, 4096 + 60 * 17 * 20);
    }
    const { ring } = await writer.close(CLOSED);
    expect(sizes.length).toBeGreaterThan(30);
    expect(Math.max(...sizes)).toBeGreaterThan(maxBytes / 2);
    expect(Math.max(...sizes, ring.peakBytes)).toBeLessThanOrEqual(2 * maxBytes + 2 * largest);
    expect(Math.max(...sizes.slice(0, 20))).toBeLessThanOrEqual(maxBytes + largest);
    expect(ring.expiredSegments).toBeGreaterThan(5);
    expect(ring.files).toHaveLength(1);
    expect(ring.firstTimePs).toBeGreaterThan(0n);
  });

  it('makes files no larger than the ring and one segment, however late, and though every text is new', async () => {
    const maxBytes = 192 * 1024;
    const spool = join(directory, 'core0.ring');
    const writer = await createRing(ringOptions(path), { maxBytes });
    const used = (ordinal: number): number => (ordinal % 10 === 9 ? ordinal % 4 : ordinal);
    const late = 40_000_000_000; // frames: nothing of the summary's beginning is kept
    const text = (index: number): string => `${index} ${'é'.repeat(40 + (index % 300))}`;
    let strings = 0;
    let largest = 0;
    for (let i = 0; i < 2000; i++) {
      const batch = new RecordBatch();
      while (strings <= i) batch.string(strings, new TextEncoder().encode(text(strings++)));
      batch.begin(BigInt(i + late) * 1000n);
      const { view, offset } = batch.event(ANNOTATE, 8);
      view.setUint32(offset, 5, true);
      view.setUint32(offset + 4, used(i), true);
      batch.op(Action.ADD, 3, 0, 0, 1, 0);
      batch.end(2, i);
      push(writer, batch);
      if (i % 50 === 49) {
        await writer.flush();
        largest = Math.max(largest, diskBytes(spool));
      }
    }
    writer.trigger('here');
    const { ring } = await writer.close(CLOSED);
    const segment = 64 * 1024;
    expect(largest).toBeGreaterThan(maxBytes / 4);
    expect(largest).toBeLessThanOrEqual(maxBytes + segment);
    expect(ring.failures).toEqual([]);
    for (const file of [path, ring.files[0].path]) {
      expect(statSync(file).size).toBeLessThanOrEqual(maxBytes + segment);
      const source = await fileSource(file);
      const { findings } = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
      await source.close?.();
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
      const trace = await openTraceFile(file);
      const words = (await wordsOf(trace)).filter((word) => word.includes('annotate'));
      expect(words.length).toBeGreaterThan(90);
      words.forEach((word, at) => {
        expect(word).toContain(` text ${text(used(2000 - words.length + at))}`);
      });
      await trace.close();
    }
  });

  it('says of a text that was let go, and is named again, that it is', async () => {
    const maxBytes = 64 * 1024;
    const writer = await createRing(ringOptions(path), { maxBytes });
    const long = 'x'.repeat(500);
    for (let i = 0; i < 500; i++) {
      const batch = new RecordBatch();
      batch.string(i, new TextEncoder().encode(`${i} ${long}`));
      batch.begin(BigInt(i) * 20_000n);
      const { view, offset } = batch.event(ANNOTATE, 8);
      view.setUint32(offset + 4, i === 499 ? 250 : i, true);
      batch.end(1, i);
      push(writer, batch);
      if (i % 30 === 0) await writer.flush();
    }
    await writer.flush();
    const image = join(directory, 'image.ring');
    cpSync(join(directory, 'core0.ring'), image, { recursive: true });
    await writer.close(CLOSED);
    const saved = join(directory, 'saved.uscope');
    await recoverSpool(image, saved, createCpuSummarizer);
    for (const file of [path, saved]) {
      const source = await fileSource(file);
      const { findings } = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
      await source.close?.();
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
      const trace = await openTraceFile(file);
      const words = await wordsOf(trace);
      expect(words.at(-1)).toBe('9980000 core0/annotate 0 text (text no longer kept)');
      expect(words.at(-2)).toBe(`9960000 core0/annotate 0 text 498 ${long}`);
      await trace.close();
    }
    const again = await resumeRing(ringOptions(join(directory, 'image.uscope')), { maxBytes });
    expect(again).toMatchObject({ nextFrame: 500n, nextString: 500n });
    await again!.close(CLOSED);
  });

  it('replaces finalized files of its name, and sets a spool that was left aside', async () => {
    const first = await createRing(ringOptions(path), { span: { ps: 1n } });
    push(first, annotated(0, 0));
    first.trigger('one');
    await first.close(CLOSED);
    expect(existsSync(join(directory, 'core0.trigger-1.uscope'))).toBe(true);
    const left = await createRing(ringOptions(path), { span: { ps: 1n } });
    expect(readdirSync(directory)).toEqual(['core0.ring']);
    push(left, annotated(0, 0));
    await left.flush();
    await killRecorders();
    const next = await createRing(ringOptions(path, { sessionId: sessionId.map((byte) => byte + 1) }), {});
    expect(readdirSync(directory).sort()).toEqual(['core0.01020304.unfinished.ring', 'core0.ring']);
    await next.close(CLOSED);
    const output = join(directory, 'saved.uscope');
    const saved = await recoverSpool(
      join(directory, 'core0.01020304.unfinished.ring'),
      output,
      createCpuSummarizer,
    );
    expect(saved).toMatchObject({ segments: 1, frames: 1n, damaged: 0, torn: 0 });
    const trace = await openTraceFile(output);
    expect(trace.session?.status).toBe(SessionStatus.RECOVERED);
    await trace.close();
  });
});

function noise(ordinal: number, items: number): RecordBatch {
  const batch = new RecordBatch();
  batch.begin(BigInt(ordinal) * 1000n);
  for (let i = 0; i < items; i++) batch.op(Action.SET, 0, i % 12, 1, (ordinal * 2654435761 + i) >>> 0, i);
  batch.end(items, ordinal);
  return batch;
}

/** What the files of the directory take, in blocks. */
function diskBytes(of: string): number {
  if (!existsSync(of)) return 0;
  const size = (name: string): number => statSync(join(of, name), { throwIfNoEntry: false })?.size ?? 0;
  return readdirSync(of).reduce((sum, name) => sum + Math.ceil(size(name) / 4096) * 4096, 0);
}
