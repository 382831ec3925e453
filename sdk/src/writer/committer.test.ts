import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { encodeStrings } from '../format/encoded-strings.js';
import { Committer, type CutSegment } from './committer.js';
import { createCompressor } from './compression/compressor.js';
import type { SegmentStore } from './file/segment-store.js';
import { SegmentBuffer } from './frames/segment-buffer.js';

const store = (): SegmentStore => ({
  path: 'memory',
  numSegments: 0,
  bytes: 0,
  add: () => 8,
  commit: async () => {},
  found: async () => 0,
  finalize: async () => 0,
  close: async () => {},
});

function segment(nextFrame: bigint): CutSegment {
  const buffer = new SegmentBuffer(null, 64);
  buffer.length = 8;
  return {
    ...{ buffer, timeEndPs: nextFrame, nextFrame, nextString: 0n, items: 1, lastTimePs: 0n },
    ...{ strings: encodeStrings([], crc32), note: undefined },
  };
}

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'commits a segment that comes %i microtasks after the one before is durable',
  async (microtasks) => {
    const durable: bigint[] = [];
    const later = async (): Promise<void> => {
      for (let i = 0; i < microtasks; i++) await Promise.resolve();
      committer.enqueue(segment(2n));
    };
    let second: Promise<void> | undefined;
    const committer = new Committer(
      store(),
      createCompressor('none'),
      {
        onDurable: ({ nextFrame }) => {
          durable.push(nextFrame);
          second ??= later();
        },
        onStall: () => {},
        onFailure: () => {},
        onRecycle: () => {},
        onCommitted: () => {},
      },
      'stop',
    );
    committer.enqueue(segment(1n));
    await committer.drain();
    await second;
    await committer.drain();
    expect(durable).toEqual([1n, 2n]);
  },
);
