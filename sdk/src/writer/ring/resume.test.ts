/** What is left when a daemon is killed, and how the next one continues with it. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import {
  ANNOTATE,
  annotated,
  CLOSED,
  eachInNewDirectory,
  expectTail,
  killRecorders,
  openFiles,
  plainOf,
  push,
  ringOptions,
  watchedOutput,
  withMembers,
} from '../../../../test/support/ring-traces.js';
import { openTraceFile } from '../../reader/node.js';
import type { OpenOutput } from '../output/output-file.js';
import { createCpuSummarizer } from '../summary/cpu-summarizer.js';
import { createRing, type RingOptions, recoverSpool, resumeRing } from './index.js';

// The disk is tried in hundreds of states.
limitOfFile(MANY_CASES_MS);

let directory: string;
let path: string;
eachInNewDirectory((made) => {
  directory = made;
  path = join(made, 'core0.uscope');
});

describe('a recorder whose daemon was killed', () => {
  it('continues from every state its disk can be in, with all that was promised', async () => {
    const images: { image: string; promised: bigint }[] = [];
    const spool = join(directory, 'core0.ring');
    let promised = 0n;
    let calls = 0;
    const snapshot = (file?: string): void => {
      if (!existsSync(spool) || images.length >= 30 || calls++ % 3 !== 0) return;
      const image = join(directory, `image-${images.length}`);
      cpSync(spool, join(image, 'core0.ring'), { recursive: true });
      // What is written and not synced may be torn.
      const torn = file && join(image, 'core0.ring', basename(file));
      if (torn && existsSync(torn) && torn.endsWith('.segment'))
        truncateSync(torn, Math.floor(statSync(torn).size * 0.7));
      images.push({ image, promised });
    };
    const watched: OpenOutput = async (...target) => {
      const file = await watchedOutput(...target);
      const sync = (): Promise<void> => {
        snapshot(file.path);
        return file.sync();
      };
      const close = (): Promise<void> => {
        snapshot();
        return file.close();
      };
      return withMembers(file, { sync, close });
    };
    const onDurable = (frames: bigint): void => {
      promised = frames;
    };
    const options = ringOptions(path, { openOutput: watched, onDurable });
    const writer = await createRing(options, { span: { ps: 50_000n }, triggers: () => [] });
    for (let i = 0; i < 20; i++) {
      push(writer, annotated(i, i));
      if (i % 3 === 0) await writer.flush();
    }
    await writer.close(CLOSED);
    const frames = Array.from({ length: 20 }, (_, i) => annotated(i, i));
    const plain = await plainOf(directory, frames);
    expect(images.length).toBeGreaterThan(15);
    for (const [index, { image, promised: durable }] of images.entries()) {
      const at = join(image, 'core0.uscope');
      const again = await resumeRing(ringOptions(at), {
        span: { ps: 50_000n },
      });
      if (again === null) {
        expect(durable).toBe(0n);
        continue;
      }
      expect(again.nextFrame).toBeGreaterThanOrEqual(durable);
      for (const batch of frames) push(again, batch); // the client sends all it has
      const stats = await again.close(CLOSED);
      expect(stats).toMatchObject({ frames: 20n, items: 20n, strings: 20n });
      if (index % 5 === 0) await expectTail(at, plain);
    }
    await plain.close();
  });

  it('makes the files of triggers that were under way, once', async () => {
    const wanted = {
      eventType: ANNOTATE,
      tests: [{ offset: 0, size: 4, lo: 7, hi: 0 }],
      label: { stringAt: 4 },
    };
    const ring: RingOptions = { span: { ps: 100_000n }, triggers: () => [wanted], afterPs: 70_000n };
    const left = await createRing(ringOptions(path), ring);
    for (let i = 0; i < 12; i++) push(left, annotated(i, i, i === 10 ? 7 : 5));
    await left.flush(); // the trigger at 200 ns waits for 270 ns
    await killRecorders();
    const again = await resumeRing(ringOptions(path), ring);
    again!.restartStream();
    for (let i = 8; i < 20; i++) push(again!, annotated(i, i, i === 10 ? 7 : 5));
    const { ring: report } = await again!.close(CLOSED);
    expect(report).toMatchObject({ triggers: 1, triggersWithoutFile: 0, failures: [] });
    expect(report.files).toMatchObject([{ label: 'string 10', timePs: 200_000n }]);
    const trace = await openTraceFile(report.files[0].path);
    expect(trace.totalTimePs).toBe(260_000n);
    await trace.close();
  });

  it('is not continued by a header that is damaged; recover keeps the frames and says what is in doubt', async () => {
    const left = await createRing(ringOptions(path), { span: { ps: 1_000_000n } });
    push(left, annotated(0, 0));
    await left.flush();
    await killRecorders();
    const spool = join(directory, 'core0.ring');
    const header = join(spool, 'header.uscope');
    const bytes = readFileSync(header);
    bytes[bytes.indexOf('annotate')]! ^= 2;
    writeFileSync(header, bytes);
    const refused = resumeRing(ringOptions(path), { span: { ps: 1_000_000n } });
    await expect(refused).rejects.toMatchObject({
      code: 'FORMAT_CHECKSUM',
      place: { file: header, offset: 48 },
    });
    const output = join(directory, 'saved.uscope');
    const saved = await recoverSpool(spool, output, createCpuSummarizer);
    expect(saved).toMatchObject({ frames: 1n, damaged: 0, isDoubtful: true });
    const trace = await openTraceFile(output);
    expect(trace.warnings).toMatchObject([{ kind: 'damaged-preamble' }]);
    await trace.close();
  });

  it('drops what is older than a damaged segment, and only that', async () => {
    const left = await createRing(ringOptions(path), { span: { ps: 1_000_000n } });
    for (let i = 0; i < 12; i++) {
      push(left, annotated(i, i));
      await left.flush();
    }
    await killRecorders();
    const spool = join(directory, 'core0.ring');
    const segments = readdirSync(spool).filter((name) => name.endsWith('.segment'));
    expect(segments.length).toBe(12);
    truncateSync(join(spool, segments[4]), 100);
    truncateSync(join(spool, segments[11]), 100);
    const output = join(directory, 'saved.uscope');
    const saved = await recoverSpool(spool, output, createCpuSummarizer);
    expect(saved).toMatchObject({ segments: 6, frames: 6n, damaged: 1, torn: 1 });
    const again = await resumeRing(ringOptions(path), { span: { ps: 1_000_000n } });
    expect(again!.nextFrame).toBe(11n);
    push(again!, annotated(11, 11));
    expect(await again!.close(CLOSED)).toMatchObject({ segments: 7, frames: 12n });
  });

  it('leaves no file open when it cannot begin or continue, whatever fails', async () => {
    const left = await createRing(ringOptions(path), { span: { ps: 30_000n } });
    for (let i = 0; i < 8; i++) {
      push(left, annotated(i, i));
      await left.flush();
    }
    await killRecorders();
    const failures = { resumed: 0, created: 0 };
    for (const kind of ['resumed', 'created'] as const) {
      for (let at = 0, isOver = false; !isOver; at++) {
        const copy = join(directory, `${kind}-${at}`);
        if (kind === 'resumed')
          cpSync(join(directory, 'core0.ring'), join(copy, 'core0.ring'), { recursive: true });
        else mkdirSync(copy);
        const options = ringOptions(join(copy, 'core0.uscope'), { openOutput: failingAt(at) });
        const ring = { span: { ps: 30_000n } };
        try {
          const writer = await (kind === 'resumed' ? resumeRing(options, ring) : createRing(options, ring));
          isOver = true;
          await writer?.close(CLOSED).catch(() => {});
          await killRecorders();
        } catch (error) {
          expect(error).toBe(BROKEN);
          failures[kind]++;
          expect(openFiles(), `${kind}, operation ${at}`).toEqual([]);
        }
      }
    }
    expect(failures.resumed).toBeGreaterThan(5);
    expect(failures.created).toBeGreaterThan(2);
  });
});

const BROKEN = new Error('the disk is broken');

/** The operation of this number fails, of all on all files; those after it do not. */
function failingAt(failing: number): OpenOutput {
  let operations = 0;
  const step = (): void => {
    if (operations++ === failing) throw BROKEN;
  };
  return async (...target) => {
    step();
    const file = await watchedOutput(...target);
    const failingly =
      <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        step();
        return work.apply(file, args);
      };
    const { read, write, sync, syncDirectory, size, truncate } = file;
    return withMembers(file, {
      read: failingly(read),
      write: failingly(write),
      sync: failingly(sync),
      syncDirectory: failingly(syncDirectory),
      size: failingly(size),
      truncate: failingly(truncate),
    });
  };
}
