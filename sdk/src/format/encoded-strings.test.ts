import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../base/bytes.js';
import { decodeCommitPlace, decodeCommitRecord, encodeCommitRecord, RecordStrings } from './commit-record.js';
import { encodeStrings, StringEncoder } from './encoded-strings.js';

function* stringsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const strings = new RecordStrings(bytes);
  while (strings.next()) yield bytes.subarray(strings.start, strings.start + strings.length);
}

const texts = fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 60 });

describe('strings of a commit record, encoded as they come', () => {
  it('are what the record says of them', () => {
    fc.assert(
      fc.property(texts, (strings) => {
        const encoded = encodeStrings(strings, crc32);
        expect([...encoded].map((text) => [...text])).toEqual(strings.map((text) => [...text]));
        expect(encoded.length).toBe(strings.length);
        expect(encoded.textBytes).toBe(strings.reduce((sum, { length }) => sum + length, 0));
        const bytes = concatBytes(encoded.pieces);
        expect([encoded.size, encoded.crc]).toEqual([bytes.length, crc32(bytes)]);
      }),
      { numRuns: 50 },
    );
  });

  it('are taken once, also when those before are still read', () => {
    const encoder = new StringEncoder(crc32);
    encoder.add(Uint8Array.of(1, 2));
    const first = encoder.take();
    encoder.add(Uint8Array.of(3));
    expect([...encoder.take()]).toEqual([Uint8Array.of(3)]);
    expect([...first]).toEqual([Uint8Array.of(1, 2)]);
    expect(encoder.take()).toMatchObject({ length: 0, size: 0, crc: 0, pieces: [] });
  });

  it('lie in the memory of released ones, and never in that of others', () => {
    const encoder = new StringEncoder(crc32);
    const text = (value: number) => new Uint8Array(100).fill(value);
    const taken = (value: number) => {
      for (let i = 0; i < 10_000; i++) encoder.add(text(value));
      return encoder.take();
    };
    const memories = ({ pieces }: ReturnType<typeof taken>) => new Set(pieces.map(({ buffer }) => buffer));
    const [released, kept] = [taken(1), taken(2)];
    const free = memories(released);
    encoder.release(released);
    const [again, others] = [taken(3), taken(4)];
    expect(memories(again)).toEqual(free);
    for (const memory of memories(others)) expect(free).not.toContain(memory);
    for (const [value, { pieces }] of [kept, again, others].map((strings, i) => [i + 2, strings] as const))
      expect(concatBytes([...pieces]).filter((byte) => byte !== value && byte !== 100 && byte !== 0)).toEqual(
        new Uint8Array(0),
      );
    expect([...again].length).toBe(10_000);
  });

  it('grow in few pieces: a write takes them all', () => {
    const encoder = new StringEncoder(crc32);
    const text = new Uint8Array(100);
    for (let i = 0; i < 100_000; i++) encoder.add(text);
    expect(encoder.take().pieces.length).toBeLessThan(20);
  });
});

describe('a commit record read without its strings', () => {
  const parts = (strings: Uint8Array[], more: object) => ({
    ...{ segmentOffset: 4096n, segmentSize: 96, nextFrame: 7n, nextString: BigInt(strings.length) },
    ...{ strings, ...more },
  });
  const more = fc.constantFrom({}, { snapshots: [3] }, { snapshots: [1, 2] });

  it('says the rest all the same, and gives the strings one after the other', () => {
    fc.assert(
      fc.property(texts, more, (strings, rest) => {
        const bytes = encodeCommitRecord(parts(strings, rest), 5);
        const { strings: decoded, ...expected } = decodeCommitRecord(bytes);
        expect(decodeCommitPlace(bytes)).toEqual(expected);
        expect([...stringsOf(bytes)].map((text) => [...text])).toEqual(decoded.map((text) => [...text]));
      }),
      { numRuns: 50 },
    );
  });

  it('is refused where the whole is', () => {
    const bytes = encodeCommitRecord(parts([Uint8Array.of(1, 2, 3)], {}), 5);
    const lying = bytes.slice();
    lying.set([0xff, 0xff, 0xff, 0x7f], 48); // the length of the string
    for (const read of [decodeCommitRecord, decodeCommitPlace, (some: Uint8Array) => [...stringsOf(some)]])
      expect(() => read(lying)).toThrow('FORMAT_TRUNCATED');
  });
});
