/** `verify` makes the index anew and compares. */
import { describe, expect, it } from 'vitest';
import { add, frame, type SegmentSpec } from '../../../../test/support/build-trace.js';
import { type IndexedSpec, indexedTrace } from '../../../../test/support/indexed-trace.js';
import { crc32 } from '../../base/crc32.js';
import { IndexPart } from '../../format/index-container.js';
import { memorySource } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import {
  type ChunkEntry,
  decodeHead,
  encodeHead,
  headSize,
  type LevelEntry,
  TAIL_SIZE,
} from '../../trace-index/directory/format.js';
import { verifyTrace } from './index.js';

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
storages:
  done: counter
`);
const segments: SegmentSpec[] = Array.from({ length: 6 }, (_, segment) => ({
  frames: Array.from({ length: 20 }, (_frame, index) =>
    frame(BigInt((segment * 20 + index) * 1000), add(0, 0, 0, 1)),
  ),
  start: BigInt(segment * 20_000),
}));

async function findings(
  spec: Partial<IndexedSpec>,
  change?: (bytes: Uint8Array, at: readonly number[]) => void,
) {
  const { bytes, containers } = await indexedTrace({ schema, segments, ...spec });
  change?.(bytes, containers);
  const report = await verifyTrace(memorySource(bytes));
  const wanted = report.findings.filter(
    ({ code, offset }) =>
      code === 'VERIFY_INDEX' || (code === 'FORMAT_CHECKSUM' && containers.includes(offset ?? -1)),
  );
  return {
    found: wanted.map(({ severity, code, offset, detail }) => ({ severity, code, offset, detail })),
    containers,
  };
}

/** The directory with another number in its first chunk, and with checksums that hold. */
function lying(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  const start = copy.length - TAIL_SIZE - headSize(copy.subarray(copy.length - TAIL_SIZE), copy.length)!;
  const head = decodeHead(copy.subarray(start), start, crc32);
  const [[level, ...coarser], ...groups] = head.levels as [[LevelEntry, ...LevelEntry[]]];
  const [chunk, ...chunks] = level.chunks as [ChunkEntry, ...ChunkEntry[]];
  const end = chunk.offset + chunk.size;
  copy[end - 1]! ^= 1;
  const changed = { ...chunk, crc: crc32(copy.subarray(chunk.offset, end), 0) };
  const levels = [[{ ...level, chunks: [changed, ...chunks] }, ...coarser], ...groups];
  copy.set(encodeHead({ ...head, levels }, crc32), start);
  return copy;
}

describe('the index of a file', () => {
  it.each(['finalized', 'without-directory', 'open'] as const)(
    'is right as it was written: %s',
    async (state) => {
      expect((await findings({ state })).found).toEqual([]);
    },
  );

  it('that lies about what happened is found, with segment and part', async () => {
    const { found, containers } = await findings({
      container: (one, segment) => {
        if (segment !== 2) return one;
        const parts = one.parts.map((part) => {
          if (part.kind !== IndexPart.TIME) return part;
          const bytes = part.bytes.slice();
          bytes[bytes.length - 1]! ^= 1;
          return { ...part, bytes };
        });
        return { ...one, parts };
      },
    });
    expect(found).toEqual([
      {
        severity: 'error',
        code: 'VERIFY_INDEX',
        offset: containers[2],
        detail: expect.stringMatching(
          /^the index of the segment at \d+ differs in its part TIME 0 from the one that the frames give$/,
        ),
      },
    ]);
  });

  it('of flipped bits is found by its checksum', async () => {
    const { found, containers } = await findings({}, (bytes, at) => {
      bytes[at[3]! + 50]! ^= 8;
    });
    expect(found[0]).toMatchObject({ severity: 'error', code: 'FORMAT_CHECKSUM', offset: containers[3] });
  });

  it('that is missing where the others are is not an error: readers count anew', async () => {
    const { found } = await findings({ container: (one, segment) => (segment === 4 ? null : one) });
    expect(found).toEqual([]);
  });

  it('has levels that are those of its containers', async () => {
    const { found } = await findings({
      directory: lying,
    });
    expect(found).toMatchObject([{ severity: 'error', code: 'VERIFY_INDEX' }]);
    expect(found[0]!.detail).toMatch(/not the one that its containers give/);
  });

  it('has a directory that is right', async () => {
    const { found } = await findings({ directory: (bytes) => bytes.subarray(0, bytes.length - 8) });
    expect(found).toMatchObject(
      [{ severity: 'error', code: 'VERIFY_INDEX', detail: /does not belong|./ }].map(
        ({ severity, code }) => ({ severity, code }),
      ),
    );
  });
});
