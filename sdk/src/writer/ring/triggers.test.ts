/** Files that triggers make of a ring. */
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import {
  ANNOTATE,
  annotated,
  CLOSED,
  eachInNewDirectory,
  expectTail,
  plainOf,
  ringOptions,
} from '../../../../test/support/ring-traces.js';
import { openTraceFile } from '../../reader/node.js';
import { createRing, type RingOptions } from './index.js';

// Many recordings, each with its messages cut in another way.
limitOfFile(MANY_CASES_MS);

let directory: string;
let path: string;
eachInNewDirectory((made) => {
  directory = made;
  path = join(made, 'core0.uscope');
});

describe('triggers', () => {
  const trigger = { eventType: ANNOTATE, tests: [{ offset: 0, size: 4, lo: 7, hi: 0 }], label: 'seven' };
  const byText = {
    eventType: ANNOTATE,
    tests: [{ offset: 4, size: 4, text: 'string 2' }],
    label: { stringAt: 4 },
  };

  it('make files that end with their frame, whatever the messages are like', async () => {
    for (const chunk of [1, 1000]) {
      const files = await triggered({ triggers: () => [trigger] }, chunk);
      expect(files).toEqual([
        { name: 'core0.trigger-1.uscope', label: 'seven', lastPs: 200_000n },
        { name: 'core0.trigger-2.uscope', label: 'seven', lastPs: 260_000n },
      ]);
    }
  });

  it('record for a time after, and are found by text', async () => {
    const files = await triggered({ triggers: () => [byText], afterPs: 55_000n }, 3);
    expect(files).toEqual([{ name: 'core0.trigger-1.uscope', label: 'string 2', lastPs: 80_000n }]);
  });

  it('beyond the limit are counted; those that wait at the end get their file', async () => {
    const files = await triggered(
      { triggers: () => [trigger], triggerFiles: 1, afterPs: 1_000_000_000n },
      5,
      1,
    );
    expect(files).toEqual([{ name: 'core0.trigger-1.uscope', label: 'seven', lastPs: 380_000n }]);
  });

  /** Twenty frames, of which those at 200 and 260 ns carry entity 7; what files became of them. */
  async function triggered(ring: RingOptions, chunk: number, skipped = 0) {
    const writer = await createRing(ringOptions(path), { span: { ps: 60_000n }, ...ring });
    const frames = Array.from({ length: 20 }, (_, i) => annotated(i, i, i === 10 || i === 13 ? 7 : 5));
    const words = frames.flatMap((batch) => [...batch.words.subarray(0, batch.length)]);
    const records = new Uint32Array(words);
    for (const [from, to] of cuts(records, chunk)) writer.push(records, from, to);
    const { ring: report } = await writer.close(CLOSED);
    expect(report.failures).toEqual([]);
    expect(report.triggersWithoutFile).toBe(skipped);
    const plain = await plainOf(directory, frames);
    const files = [];
    for (const file of report.files) {
      const trace = await openTraceFile(file.path);
      files.push({ name: basename(file.path), label: file.label, lastPs: trace.totalTimePs });
      expect(new Map(trace.dut).get('uscope.trigger')).toBe(file.label);
      await trace.close();
      await expectTail(file.path, plain, trace.totalTimePs + 1n);
    }
    await plain.close();
    return files;
  }
});

/** Parts of this number of records, none of which ends inside a string. */
function* cuts(words: Uint32Array, records: number): Generator<[number, number]> {
  const BEGIN = 0x10;
  const starts = Array.from({ length: words.length / 4 }, (_, i) => i * 4).filter(
    (at) => (words[at] & 0xff) !== 0x12,
  );
  const safe = starts.filter(
    (at) => at === 0 || (words[at] & 0xff) === BEGIN || (words[at - 4] & 0xff) === BEGIN,
  );
  let from = 0;
  for (let i = records; i < safe.length; i += records) {
    yield [from, safe[i]];
    from = safe[i];
  }
  yield [from, words.length];
}
