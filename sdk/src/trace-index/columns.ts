/**
 * Columns of numbers, one number per row, in the shortest of some forms (docs/format.md#index-columns). Numbers are unsigned 64-bit; of what may be
 * negative, the zigzag form. The compiled twin is sdk/kernel/index/columns.c.
 */
import { type ByteReader, ByteWriter } from '../base/bytes.js';
import { readLeb128, writeLeb128 } from '../base/leb128.js';

export const ColumnForm = {
  /** All zero: LEB128 number of further columns that are too. */
  ZERO: 0,
  /** The same in every row: LEB128. */
  CONSTANT: 1,
  /** LEB128 each. */
  PLAIN: 2,
  /** LEB128 number of rows that are not zero; for each LEB128 distance from the row after the last one, and the number. */
  SPARSE: 3,
  /** Zigzag LEB128 difference to the row before each; the first to 0. */
  DIFFERENCES: 4,
} as const;

const U64 = (1n << 64n) - 1n;

export function zigzag(value: bigint): bigint {
  return ((value << 1n) ^ (BigInt.asIntN(64, value) >> 63n)) & U64;
}

export function unzigzag(value: bigint): bigint {
  return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
}

/** Bytes of a number as LEB128. */
function lebSize(value: bigint): number {
  let size = 1;
  for (let rest = value >> 7n; rest > 0n; rest >>= 7n) size++;
  return size;
}

/** @param columns unsigned 64-bit numbers, one per row, the same number of rows (at least one) in each */
export function encodeColumns(writer: ByteWriter, columns: readonly (readonly bigint[])[]): void {
  for (let index = 0; index < columns.length; ) {
    const column = columns[index]!;
    if (isZero(column)) {
      let end = index + 1;
      while (end < columns.length && isZero(columns[end]!)) end++;
      writer.u8(ColumnForm.ZERO);
      writeLeb128(writer, end - index - 1);
      index = end;
      continue;
    }
    encodeColumn(writer, column);
    index++;
  }
}

function isZero(column: readonly bigint[]): boolean {
  return column.every((value) => value === 0n);
}

function encodeColumn(writer: ByteWriter, column: readonly bigint[]): void {
  const [first = 0n] = column;
  if (column.every((value) => value === first)) {
    writer.u8(ColumnForm.CONSTANT);
    writeLeb128(writer, first);
    return;
  }
  const forms = [
    { form: ColumnForm.PLAIN, numbers: column },
    { form: ColumnForm.SPARSE, numbers: sparseOf(column) },
    { form: ColumnForm.DIFFERENCES, numbers: differencesOf(column) },
  ].map((one) => ({ ...one, size: sizeOf(one.numbers) }));
  // Of two that are as short the first.
  const { form, numbers } = forms.reduce((best, one) => (one.size < best.size ? one : best));
  writer.u8(form);
  for (const value of numbers) writeLeb128(writer, value);
}

function differencesOf(column: readonly bigint[]): bigint[] {
  return column.map((value, row) => zigzag((value - (column[row - 1] ?? 0n)) & U64));
}

function sizeOf(numbers: readonly bigint[]): number {
  return numbers.reduce((sum, value) => sum + lebSize(value), 0);
}

function sparseOf(column: readonly bigint[]): bigint[] {
  const rows = [...column.keys()].filter((row) => column[row] !== 0n);
  return [
    BigInt(rows.length),
    ...rows.flatMap((row, index) => [BigInt(row - (index > 0 ? rows[index - 1]! + 1 : 0)), column[row]!]),
  ];
}

/**
 * Reads `count` columns of `rows` numbers each. Numbers beyond 2^53 are rounded; with `signed` those of a column are zigzag.
 * Errors: FORMAT_TRUNCATED, FORMAT_VALUE (a form that is none, a row that does not exist), FORMAT_LENGTH (more columns than there are).
 */
export function decodeColumns(
  reader: ByteReader,
  count: number,
  rows: number,
  signed: (column: number) => boolean,
): Float64Array[] {
  const columns: Float64Array[] = [];
  while (columns.length < count) {
    const at = reader.offset;
    const form = reader.u8();
    if (form === ColumnForm.ZERO) {
      const run = readLeb128(reader) + 1n;
      if (run > BigInt(count - columns.length)) {
        throw reader.error(
          'FORMAT_LENGTH',
          `${run} columns of zeros where ${count - columns.length} are left`,
          at,
        );
      }
      for (let left = Number(run); left > 0; left--) columns.push(new Float64Array(rows));
      continue;
    }
    const isSigned = signed(columns.length);
    const column = new Float64Array(rows);
    decodeColumn(reader, form, at, column, (value) => Number(isSigned ? unzigzag(value) : value));
    columns.push(column);
  }
  return columns;
}

function decodeColumn(
  reader: ByteReader,
  form: number,
  at: number,
  column: Float64Array,
  numberOf: (value: bigint) => number,
): void {
  if (form === ColumnForm.CONSTANT) column.fill(numberOf(readLeb128(reader)));
  else if (form === ColumnForm.PLAIN) {
    for (let row = 0; row < column.length; row++) column[row] = numberOf(readLeb128(reader));
  } else if (form === ColumnForm.SPARSE) {
    let row = -1n;
    for (let left = readLeb128(reader); left > 0n; left--) {
      row += readLeb128(reader) + 1n;
      if (row >= BigInt(column.length)) {
        throw reader.error('FORMAT_VALUE', `row ${row} of a column that has ${column.length}`, at);
      }
      column[Number(row)] = numberOf(readLeb128(reader));
    }
  } else if (form === ColumnForm.DIFFERENCES) {
    let value = 0n;
    for (let row = 0; row < column.length; row++) {
      value = (value + unzigzag(readLeb128(reader))) & U64;
      column[row] = numberOf(value);
    }
  } else throw reader.error('FORMAT_VALUE', `${form} is no form of a column`, at);
}

/** A writer of numbers of a part. */
export function partWriter(...numbers: readonly (number | bigint)[]): ByteWriter {
  const writer = new ByteWriter();
  for (const value of numbers) writeLeb128(writer, value);
  return writer;
}
