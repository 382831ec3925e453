/**
 * Columns of numbers, one number per row, in the shortest of some forms (docs/reference/format.md#index-columns). Numbers are unsigned 64-bit; of what may be
 * negative, the zigzag form. The compiled twin is sdk/kernel/index/columns.c.
 */
import { type ByteReader, ByteWriter } from '../base/bytes.js';
import { lebSize, readLeb128, readLeb128Number, writeLeb128 } from '../base/leb128.js';

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
  /** LEB128 least number; u8 bits of each; how much each is greater than the least, in that many bits, the lowest first. */
  PACKED: 5,
} as const;

/** Most bits of a packed number, and the greatest that is packed. */
const MAX_PACKED_BITS = 24;

const U64 = (1n << 64n) - 1n;

export function zigzag(value: bigint): bigint {
  return ((value << 1n) ^ (BigInt.asIntN(64, value) >> 63n)) & U64;
}

export function unzigzag(value: bigint): bigint {
  return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
}

/**
 * What may be a column: numbers as they are where all of them are below 2^51, which is quick, else 64-bit ones.
 */
export type Column = readonly bigint[] | readonly number[];

/** Greatest number of a column of numbers: a difference of two in zigzag form is a safe integer too. */
export const MAX_SMALL = 2 ** 51;

/** The greatest number of 64 bits that is a double. */
export const MAX_U64 = 2 ** 64 - 2 ** 11;

/** A number or a 64-bit one, with the same meaning of both. */
interface Width<T extends number | bigint> {
  readonly zero: T;
  /** Zigzag form of the difference. */
  difference(value: T, before: T): T;
}

const SMALL: Width<number> = {
  zero: 0,
  difference: (value, before) => smallZigzag(value - before),
};

const WIDE: Width<bigint> = {
  zero: 0n,
  difference: (value, before) => zigzag((value - before) & U64),
};

/** `zigzag` of a number. */
export function smallZigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function smallUnzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** @param columns one number per row, unsigned, the same number of rows (at least one) in each */
export function encodeColumns(writer: ByteWriter, columns: readonly Column[]): void {
  for (let index = 0; index < columns.length; ) {
    if (isZero(columns[index]!)) {
      let end = index + 1;
      while (end < columns.length && isZero(columns[end]!)) end++;
      writer.u8(ColumnForm.ZERO);
      writeLeb128(writer, end - index - 1);
      index = end;
      continue;
    }
    const column = columns[index++]!;
    if (isSmall(column)) encodeColumn(writer, column, SMALL);
    else encodeColumn(writer, column, WIDE);
  }
}

function isSmall(column: Column): column is readonly number[] {
  return typeof column[0] === 'number';
}

function isZero(column: Column): boolean {
  for (const value of column) if (value) return false;
  return true;
}

function encodeColumn<T extends number | bigint>(
  writer: ByteWriter,
  column: readonly T[],
  width: Width<T>,
): void {
  const [first] = column;
  if (column.every((value) => value === first)) {
    writer.u8(ColumnForm.CONSTANT);
    writeLeb128(writer, first!);
    return;
  }
  const form = shortestForm(column, width);
  writer.u8(form);
  if (form === ColumnForm.SPARSE) writeSparse(writer, column);
  else if (form === ColumnForm.PACKED) writePacked(writer, column.map(Number));
  else if (form === ColumnForm.PLAIN) for (const value of column) writeLeb128(writer, value);
  else {
    let before = width.zero;
    for (const value of column) {
      writeLeb128(writer, width.difference(value, before));
      before = value;
    }
  }
}

/** Of two that are as short the first. */
function shortestForm<T extends number | bigint>(column: readonly T[], width: Width<T>): number {
  let [plain, differences, sparse] = [0, 0, 0];
  let [nonzero, next] = [0, 0];
  let before = width.zero;
  let [least, most] = [column[0]!, column[0]!];
  for (let row = 0; row < column.length; row++) {
    const value = column[row]!;
    if (value < least) least = value;
    if (value > most) most = value;
    const size = lebSize(value);
    plain += size;
    differences += lebSize(width.difference(value, before));
    before = value;
    if (!value) continue;
    sparse += lebSize(row - next) + size;
    next = row + 1;
    nonzero++;
  }
  sparse += lebSize(nonzero);
  const packed = packedSize(Number(least), Number(most), column.length);
  if (packed < plain && packed < sparse && packed < differences) return ColumnForm.PACKED;
  if (plain <= sparse && plain <= differences) return ColumnForm.PLAIN;
  return sparse <= differences ? ColumnForm.SPARSE : ColumnForm.DIFFERENCES;
}

/** Infinite where they cannot be packed. */
function packedSize(least: number, most: number, rows: number): number {
  const bits = packedBits(most - least);
  if (bits > MAX_PACKED_BITS || most > MAX_SMALL) return Number.POSITIVE_INFINITY;
  return lebSize(least) + 1 + Math.ceil((rows * bits) / 8);
}

function packedBits(range: number): number {
  return range < 2 ** MAX_PACKED_BITS ? 32 - Math.clz32(range) : MAX_PACKED_BITS + 1;
}

function writePacked(writer: ByteWriter, column: readonly number[]): void {
  const least = column.reduce((a, b) => Math.min(a, b));
  const bits = packedBits(column.reduce((a, b) => Math.max(a, b)) - least);
  writeLeb128(writer, least);
  writer.u8(bits);
  let [word, filled] = [0, 0];
  for (const value of column) {
    word |= (value - least) << filled;
    filled += bits;
    for (; filled >= 8; filled -= 8, word >>>= 8) writer.u8(word & 0xff);
  }
  if (filled > 0) writer.u8(word);
}

function writeSparse(writer: ByteWriter, column: readonly (number | bigint)[]): void {
  let nonzero = 0;
  for (const value of column) if (value) nonzero++;
  writeLeb128(writer, nonzero);
  let next = 0;
  for (let row = 0; row < column.length; row++) {
    if (!column[row]) continue;
    writeLeb128(writer, row - next);
    writeLeb128(writer, column[row]!);
    next = row + 1;
  }
}

/**
 * Reads `count` columns of `rows` numbers each. Numbers beyond 2^53 are rounded; with `signed` those of a column are zigzag.
 * Errors: FORMAT_TRUNCATED, FORMAT_VALUE (a form that is none, a row that does not exist), FORMAT_LENGTH (more columns than there are).
 * @param wanted only the first ones: nothing after them is looked at
 */
export function decodeColumns(
  reader: ByteReader,
  count: number,
  rows: number,
  signed: (column: number) => boolean,
  wanted = count,
): Float64Array[] {
  const columns: Float64Array[] = [];
  // One piece of memory for all: there are many parts with few rows.
  const cells = new Float64Array(wanted * rows);
  const add = (): Float64Array => {
    const column = cells.subarray(columns.length * rows, (columns.length + 1) * rows);
    columns.push(column);
    return column;
  };
  while (columns.length < wanted) {
    const at = reader.offset;
    const form = reader.u8();
    if (form === ColumnForm.ZERO) {
      const run = readLeb128Number(reader) + 1;
      if (run > count - columns.length) {
        throw reader.error(
          'FORMAT_LENGTH',
          `${run} columns of zeros where ${count - columns.length} are left`,
          at,
        );
      }
      for (let left = Math.min(run, wanted - columns.length); left > 0; left--) add();
      continue;
    }
    const isSigned = signed(columns.length);
    decodeColumn(reader, form, at, add(), isSigned);
  }
  return columns;
}

function decodeColumn(
  reader: ByteReader,
  form: number,
  at: number,
  column: Float64Array,
  isSigned: boolean,
): void {
  const read = isSigned ? readSigned : readLeb128Number;
  if (form === ColumnForm.CONSTANT) column.fill(read(reader));
  else if (form === ColumnForm.PLAIN) {
    for (let row = 0; row < column.length; row++) column[row] = read(reader);
  } else if (form === ColumnForm.SPARSE) {
    let row = -1;
    for (let left = readLeb128Number(reader); left > 0; left--) {
      row += readLeb128Number(reader) + 1;
      if (row >= column.length) {
        throw reader.error('FORMAT_VALUE', `row ${row} of a column that has ${column.length}`, at);
      }
      column[row] = read(reader);
    }
  } else if (form === ColumnForm.PACKED) readPacked(reader, at, column, isSigned);
  else if (form === ColumnForm.DIFFERENCES) {
    const start = reader.offset;
    if (smallDifferences(reader, column, isSigned)) return;
    reader.offset = start;
    wideDifferences(reader, column, isSigned);
  } else throw reader.error('FORMAT_VALUE', `${form} is not a form of a column`, at);
}

function readPacked(reader: ByteReader, at: number, column: Float64Array, isSigned: boolean): void {
  const least = readLeb128Number(reader);
  const bits = reader.u8();
  if (bits < 1 || bits > MAX_PACKED_BITS)
    throw reader.error('FORMAT_VALUE', `packed numbers of ${bits} bits`, at);
  let [word, filled] = [0, 0];
  for (let row = 0; row < column.length; row++) {
    for (; filled < bits; filled += 8) word |= reader.u8() << filled;
    const value = least + (word & ((1 << bits) - 1));
    column[row] = isSigned ? smallUnzigzag(value) : value;
    word >>>= bits;
    filled -= bits;
  }
}

/** A number in zigzag form. */
function readSigned(reader: ByteReader): number {
  const start = reader.offset;
  const value = readLeb128Number(reader);
  if (value <= Number.MAX_SAFE_INTEGER) return smallUnzigzag(value);
  reader.offset = start;
  return Number(unzigzag(readLeb128(reader)));
}

/** False: a number is not small, and what `column` holds has no meaning. */
function smallDifferences(reader: ByteReader, column: Float64Array, isSigned: boolean): boolean {
  let value = 0;
  for (let row = 0; row < column.length; row++) {
    const difference = readLeb128Number(reader);
    value += smallUnzigzag(difference);
    if (!(difference <= Number.MAX_SAFE_INTEGER && value >= 0 && value <= MAX_SMALL)) return false;
    column[row] = isSigned ? smallUnzigzag(value) : value;
  }
  return true;
}

function wideDifferences(reader: ByteReader, column: Float64Array, isSigned: boolean): void {
  let value = 0n;
  for (let row = 0; row < column.length; row++) {
    value = (value + unzigzag(readLeb128(reader))) & U64;
    column[row] = Number(isSigned ? unzigzag(value) : value);
  }
}

/** A writer of numbers of a part. */
export function partWriter(...numbers: readonly (number | bigint)[]): ByteWriter {
  const writer = new ByteWriter();
  for (const value of numbers) writeLeb128(writer, value);
  return writer;
}
