import { describe, expect, test } from 'vitest';
import {
  compressionFlags,
  compressionOf,
  decodeHeader,
  encodeHeader,
  type FileHeader,
  Flag,
  HEADER_SIZE,
} from './header.js';

const HEADER: FileHeader = {
  versionMajor: 0,
  versionMinor: 3,
  flags: Flag.COMPRESSED | Flag.INTERLEAVED,
  totalTimePs: 0n,
  numSegments: 0,
  preambleEnd: 528,
  sectionTableOffset: 0n,
  tailOffset: 0n,
};

function changed(at: number, value: number): Uint8Array {
  const bytes = encodeHeader(HEADER);
  bytes[at] = value;
  return bytes;
}

describe('file header', () => {
  test('has 48 bytes; bytes after it are not looked at', () => {
    const bytes = encodeHeader(HEADER);
    expect(bytes.length).toBe(HEADER_SIZE);
    expect(decodeHeader(Uint8Array.of(...bytes, 1, 2, 3))).toEqual(HEADER);
  });

  test('of a short file says whether it is another one or a part of a trace', () => {
    const codeOf = (bytes: Uint8Array): string => {
      try {
        decodeHeader(bytes);
        return '';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    for (let size = 0; size < HEADER_SIZE; size++) {
      expect(codeOf(encodeHeader(HEADER).subarray(0, size))).toBe('FORMAT_TRUNCATED');
      expect(codeOf(new TextEncoder().encode('x'.repeat(size)))).toBe(
        size < 4 ? 'FORMAT_TRUNCATED' : 'FORMAT_MAGIC',
      );
    }
  });

  test.each([
    ['another magic', 0, 0, 'FORMAT_MAGIC', 0],
    ['a greater major version', 4, 1, 'FORMAT_VERSION', 4],
    ['a greater minor version', 6, 4, 'FORMAT_VERSION', 4],
    ['a reserved flag', 13, 1, 'FORMAT_VALUE', 8],
    ['a reserved compression method', 8, 0xaa, 'FORMAT_COMPRESSION', 8],
    ['a preamble that ends inside the header', 29, 0, 'FORMAT_LENGTH', 28],
  ])('%s is refused', (_, at, value, code, offset) => {
    expect(() => decodeHeader(changed(at, value))).toThrow(
      expect.objectContaining({ code, place: { offset } }),
    );
  });

  test.each([0, 1, 2, 3])('minor version %s is read', (minor) => {
    expect(decodeHeader(changed(6, minor)).versionMinor).toBe(minor);
  });
});

describe('compression flags', () => {
  test.each(['none', 'lz4', 'zstd'] as const)('%s survives', (name) => {
    expect(compressionOf(compressionFlags(name) | Flag.INTERLEAVED | Flag.COMPLETE)).toBe(name);
  });

  test('the method counts only when the file is compressed, but a reserved one never passes', () => {
    expect(compressionOf(1 << 3)).toBe('none');
    for (let method = 2; method < 8; method++) {
      expect(() => compressionOf(method << 3)).toThrow(
        expect.objectContaining({ code: 'FORMAT_COMPRESSION' }),
      );
    }
  });
});
