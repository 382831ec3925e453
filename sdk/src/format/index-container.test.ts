import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../base/hex.js';
import {
  decodeIndexContainer,
  encodeIndexContainer,
  INDEX_HEADER_SIZE,
  indexContainerSize,
  isIndexContainer,
  sealIndexContainer,
} from './index-container.js';

const container = fc.record({
  segmentOffset: fc.bigInt({ min: 0n, max: 1n << 53n }),
  planCrc: fc.nat(0xffff_ffff),
  parts: fc.array(
    fc.record({ kind: fc.nat(20), subject: fc.nat(0xffff), bytes: fc.uint8Array({ maxLength: 40 }) }),
    { maxLength: 6 },
  ),
});
const hex = (bytes: Uint8Array): string => toHex(bytes);

describe('an index container', () => {
  it('has these bytes', () => {
    const parts = [{ kind: 1, subject: 2, bytes: Uint8Array.of(3, 4, 5) }];
    const bytes = encodeIndexContainer({ segmentOffset: 0x1a8n, planCrc: 0x01020304, parts });
    expect(hex(bytes)).toBe(
      `${'75494458'}${'30000000'}${hex(bytes.subarray(8, 12))}${'10ff0100'}` +
        'a801000000000000' +
        '0403020101000000' +
        '0100020003000000' +
        '0304050000000000',
    );
  });

  it('comes back as it was', () => {
    fc.assert(
      fc.property(container, fc.uint8Array({ maxLength: 9 }), (one, behind) => {
        const bytes = encodeIndexContainer(one);
        expect(bytes.length % 8).toBe(0);
        const followed = Uint8Array.from([...bytes, ...behind]);
        expect(indexContainerSize(followed)).toBe(bytes.length);
        expect(decodeIndexContainer(followed)).toEqual(one);
      }),
    );
  });

  it('gets its place when that is known', () => {
    const bytes = encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts: [] });
    sealIndexContainer(bytes, 4096);
    expect(decodeIndexContainer(bytes)).toEqual({ segmentOffset: 4096n, planCrc: 7, parts: [] });
  });

  it('is none where any bit is wrong, and nothing but an error comes of it', () => {
    fc.assert(
      fc.property(container, fc.nat(), (one, flip) => {
        const bytes = encodeIndexContainer(one);
        const bit = flip % (bytes.length * 8);
        bytes[bit >>> 3]! ^= 1 << (bit & 7);
        expect(isIndexContainer(bytes)).toBe(false);
        expect(() => decodeIndexContainer(bytes)).toThrow(/FORMAT_/);
      }),
      { numRuns: 300 },
    );
  });

  it('is none where it is cut', () => {
    const parts = [{ kind: 1, subject: 0, bytes: new Uint8Array(20) }];
    const bytes = encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts });
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      expect(isIndexContainer(cut)).toBe(false);
      expect(indexContainerSize(cut)).toBe(length < INDEX_HEADER_SIZE ? 0 : bytes.length);
      expect(() => decodeIndexContainer(cut)).toThrow(/FORMAT_TRUNCATED/);
    }
  });

  it.each([
    ['more parts than it has bytes', 28, [0xff, 0xff, 0xff, 0x7f]],
    ['a part longer than it', 36, [0xff, 0xff, 0xff, 0x7f]],
  ])('allocates nothing for %s', (_, at, lie) => {
    const parts = [{ kind: 1, subject: 0, bytes: new Uint8Array(20) }];
    const bytes = encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts });
    bytes.set(lie, at);
    sealIndexContainer(bytes, 0);
    expect(() => decodeIndexContainer(bytes)).toThrow(/FORMAT_(LENGTH|TRUNCATED)/);
  });

  it('of another layout is nobody’s', () => {
    const bytes = encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts: [] });
    bytes[14] = 2;
    sealIndexContainer(bytes, 0);
    expect(decodeIndexContainer(bytes)).toBeNull();
  });
});
