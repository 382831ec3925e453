import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildDensityLevels,
  buildMipmap,
  CSUM_MAGIC,
  createMipmapLevel,
  DENSITY_HEAD_SIZE,
  decodeDensityHead,
  decodeDensityLevel,
  decodeTraceSummary,
  encodeTraceSummary,
} from './tsum.js';

/** A level from [min, max, sum] triples. */
function levelOf(triples: readonly (readonly [bigint, bigint, bigint])[]) {
  const level = createMipmapLevel(triples.length);
  triples.forEach(([min, max, sum], index) => {
    level.min[index] = min;
    level.max[index] = max;
    level.sum[index] = sum;
  });
  return level;
}

describe('density levels', () => {
  test('sum up to fan-out buckets each until one is left', () => {
    const levels = buildDensityLevels(Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 4);
    expect(levels.map((level) => [...level])).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 26, 9], [45]]);
  });

  test('one bucket is one level, no bucket none', () => {
    expect(buildDensityLevels(Uint32Array.of(7), 4).length).toBe(1);
    expect(buildDensityLevels(new Uint32Array(0), 4)).toEqual([]);
  });

  test('a sum past 32 bits stays at the greatest value', () => {
    expect(buildDensityLevels(Uint32Array.of(0xffff_ffff, 2), 2)[1]).toEqual(Uint32Array.of(0xffff_ffff));
  });

  test.each([0, 1, -4, 2.5])('fan-out %s is refused', (fanOut) => {
    expect(() => buildDensityLevels(new Uint32Array(3), fanOut)).toThrow(
      expect.objectContaining({ code: 'FORMAT_VALUE' }),
    );
  });
});

describe('counter mipmap', () => {
  test('empty buckets take no part in the minimum above', () => {
    const [, above] = buildMipmap(
      levelOf([
        [5n, 9n, 20n],
        [0n, 0n, 0n],
        [3n, 4n, 7n],
      ]),
      4,
    );
    expect([above.min[0], above.max[0], above.sum[0]]).toEqual([3n, 9n, 27n]);
  });

  test('a group of empty buckets is empty', () => {
    const empty = [0n, 0n, 0n] as const;
    const [, above] = buildMipmap(levelOf([empty, empty, [1n, 1n, 1n]]), 2);
    expect([...above.min, ...above.max, ...above.sum]).toEqual([0n, 1n, 0n, 1n, 0n, 1n]);
  });

  test('the top equals all buckets at once, for any number of buckets and any fan-out', () => {
    const bucket = fc
      .tuple(fc.bigInt(0n, 100n), fc.bigInt(0n, 100n), fc.bigInt(0n, 2n ** 60n))
      .map(([a, b, sum]) => (a === 0n ? ([0n, 0n, 0n] as const) : ([a, a + b, a + b + sum] as const)));
    fc.assert(
      fc.property(
        fc.array(bucket, { minLength: 1, maxLength: 70 }),
        fc.integer({ min: 2, max: 9 }),
        (buckets, fanOut) => {
          const top = buildMipmap(levelOf(buckets), fanOut).at(-1)!;
          const filled = buckets.filter(([, max]) => max > 0n);
          const minima = filled.map(([value]) => value).sort((a, b) => (a < b ? -1 : 1));
          const min = minima[0] ?? 0n;
          const maxima = filled.map(([, value]) => value).sort((a, b) => (a < b ? -1 : 1));
          const max = maxima.at(-1) ?? 0n;
          const sum = BigInt.asUintN(
            64,
            filled.reduce((total, [, , value]) => total + value, 0n),
          );
          expect([top.min.length, top.min[0], top.max[0], top.sum[0]]).toEqual([1, min, max, sum]);
        },
      ),
    );
  });
});

describe('the finest density alone', () => {
  const summaryWith = (density: readonly Uint32Array[]) =>
    encodeTraceSummary({ baseIntervalCycles: 1024, fanOut: 4, totalInstructions: 7n, density, counters: [] });

  test('is that of the whole summary', () => {
    fc.assert(
      fc.property(fc.uint32Array({ minLength: 1, maxLength: 50 }), (level0) => {
        const bytes = summaryWith(buildDensityLevels(level0, 4));
        const head = decodeDensityHead(bytes.subarray(0, DENSITY_HEAD_SIZE));
        expect(head).toEqual({ baseIntervalCycles: 1024, length: level0.length });
        const end = DENSITY_HEAD_SIZE + head.length * 4;
        expect(decodeDensityLevel(bytes.subarray(DENSITY_HEAD_SIZE, end))).toEqual(
          decodeTraceSummary(bytes).density[0],
        );
      }),
    );
  });

  test('a summary without levels, and one without density, have none', () => {
    expect(decodeDensityHead(summaryWith([]))).toEqual({ baseIntervalCycles: 1024, length: 0 });
    const older = Uint8Array.from([...new Uint8Array(Uint32Array.of(CSUM_MAGIC, 512, 4, 0).buffer)]);
    expect(decodeDensityHead(older)).toEqual({ baseIntervalCycles: 512, length: 0 });
  });

  test('a head that is cut, or is none, is refused', () => {
    const bytes = summaryWith([Uint32Array.of(1)]);
    expect(() => decodeDensityHead(bytes.subarray(0, DENSITY_HEAD_SIZE - 1))).toThrow(/FORMAT_TRUNCATED/);
    expect(() => decodeDensityHead(new Uint8Array(DENSITY_HEAD_SIZE))).toThrow(/FORMAT_MAGIC/);
  });
});

test('a summary survives', () => {
  const summary = {
    baseIntervalCycles: 1024,
    fanOut: 4,
    totalInstructions: 2n ** 63n,
    density: buildDensityLevels(Uint32Array.of(1, 2, 3, 4, 5), 4),
    counters: [
      {
        name: 'µops',
        storageId: 65_535,
        levels: buildMipmap(
          levelOf([
            [1n, 2n ** 64n - 1n, 3n],
            [4n, 5n, 6n],
          ]),
          4,
        ),
      },
      { name: '', storageId: 0, levels: [] },
    ],
  };
  expect(decodeTraceSummary(encodeTraceSummary(summary))).toEqual(summary);
});
