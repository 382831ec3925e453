import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../base/bytes.js';
import {
  ColumnForm,
  decodeColumns,
  encodeColumns,
  MAX_SMALL,
  smallZigzag,
  unzigzag,
  zigzag,
} from './columns.js';

const encode = (...columns: (number | bigint)[][]): number[] => {
  const writer = new ByteWriter();
  encodeColumns(
    writer,
    columns.map((column) => column.map(BigInt)),
  );
  return [...writer.finish()];
};

describe('columns', () => {
  it('take the shortest form', () => {
    expect(encode([0, 0, 0], [0, 0, 0])).toEqual([0, 1]);
    expect(encode([7, 7, 7])).toEqual([1, 7]);
    expect(encode([1, 2, 3])).toEqual([2, 1, 2, 3]);
    expect(encode([0, 0, 0, 0, 0, 9])).toEqual([3, 1, 5, 9]);
    expect(encode([200, 202, 204, 206])).toEqual([4, 0x90, 3, 4, 4, 4]);
    expect(encode([200, 201, 200, 201])).toEqual([5, 0xc8, 1, 1, 0b1010]);
    expect(encode([9, 12, 10, 11, 9, 12])).toEqual([5, 9, 2, 0b10011100, 0b1100]);
  });

  it('come back as they were', () => {
    const value = fc.oneof(
      fc.constant(0n),
      fc.bigInt({ min: 0n, max: 300n }),
      fc.bigInt({ min: 0n, max: (1n << 53n) - 1n }),
    );
    const table = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(5)).chain(([rows, count]) =>
      fc.array(fc.array(value, { minLength: rows, maxLength: rows }), {
        minLength: count,
        maxLength: count,
      }),
    );
    fc.assert(
      fc.property(table, (columns) => {
        const writer = new ByteWriter();
        encodeColumns(writer, columns);
        const reader = new ByteReader(writer.finish());
        const decoded = decodeColumns(reader, columns.length, columns[0]?.length ?? 0, () => false);
        expect(decoded.map((column) => [...column].map(BigInt))).toEqual(columns);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  it('that are packed are those of few bits above any least number', () => {
    const packed = fc
      .tuple(fc.nat(MAX_SMALL - 2 ** 25), fc.integer({ min: 1, max: 26 }), fc.integer({ min: 3, max: 40 }))
      .chain(([least, bits, rows]) =>
        fc
          .array(fc.nat(2 ** bits - 1), { minLength: rows, maxLength: rows })
          .map((above) => above.map((one) => least + one)),
      );
    let found = 0;
    fc.assert(
      fc.property(packed, fc.boolean(), (column, isSigned) => {
        const writer = new ByteWriter();
        encodeColumns(writer, [column]);
        const bytes = writer.finish();
        if (bytes[0] === ColumnForm.PACKED) found++;
        const reader = new ByteReader(bytes);
        const [decoded] = decodeColumns(reader, 1, column.length, () => isSigned);
        expect([...decoded!]).toEqual(column.map((one) => (isSigned ? Number(unzigzag(BigInt(one))) : one)));
        expect(reader.remaining).toBe(0);
      }),
    );
    expect(found).toBeGreaterThan(0);
  });

  it('of numbers and of 64-bit ones have the same bytes', () => {
    const value = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat(300), fc.nat(MAX_SMALL - 1));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), (column) => {
        const [small, wide] = [new ByteWriter(), new ByteWriter()];
        encodeColumns(small, [column]);
        encodeColumns(wide, [column.map(BigInt)]);
        expect(small.finish()).toEqual(wide.finish());
      }),
    );
  });

  it('of numbers beyond 2^53 come back as the nearest numbers, signed or not', () => {
    const values = fc.array(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(values, fc.boolean(), (column, isSigned) => {
        const writer = new ByteWriter();
        encodeColumns(writer, [column]);
        const [decoded] = decodeColumns(new ByteReader(writer.finish()), 1, column.length, () => isSigned);
        expect([...decoded!]).toEqual(column.map((one) => Number(isSigned ? unzigzag(one) : one)));
      }),
    );
  });

  it('hold negative numbers in zigzag form', () => {
    const column = [-3n, 5n, -(1n << 63n), (1n << 63n) - 1n];
    expect(column.map(zigzag).map(unzigzag)).toEqual(column);
    expect([0n, -1n, 1n, -2n].map(zigzag)).toEqual([0n, 1n, 2n, 3n]);
    expect([0, -1, 1, -2].map(smallZigzag)).toEqual([0, 1, 2, 3]);
  });

  it('of any bytes are columns or an error', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.nat(4),
        fc.integer({ min: 1, max: 9 }),
        (bytes, count, rows) => {
          try {
            const columns = decodeColumns(new ByteReader(bytes), count, rows, () => true);
            expect(columns.map(({ length }) => length)).toEqual(new Array(count).fill(rows));
          } catch (error) {
            expect(String(error)).toMatch(/FORMAT_(TRUNCATED|VALUE|LENGTH)/);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
