import { describe, expect, it } from 'vitest';
import { format, written } from '../../../../test/support/ctrace-files.js';
import { memorySource } from '../../reader/index.js';
import { formatG } from './float-text.js';
import { ArgType, ByteText, CtraceFile, type CtraceValue, dumpText, EMPTY_SCHEMA } from './index.js';

/** The message of one event, and of its bytes. */
async function message(
  text: string,
  types: readonly number[],
  values: readonly CtraceValue[] | Uint8Array,
): Promise<string> {
  const schema = { ...EMPTY_SCHEMA, formats: [format(1, text, types)] };
  const head = { cycle: 0n, formatId: 1, category: 0, source: 0 };
  const bytes = await written(schema, (writer) => {
    if (values instanceof Uint8Array) writer.rawEvent(head, types.length, values);
    else writer.event(head, values);
  });
  let line = '';
  await dumpText(await CtraceFile.open(memorySource(bytes)), {}, (piece) => {
    line += Buffer.from(piece).toString('latin1');
  });
  return line.slice('[         0] '.length, -1);
}

const { INT8, INT16, INT32, INT64, UINT8, UINT32, UINT64, FLOAT, DOUBLE, POINTER, STRING, BOOL } = ArgType;

describe('numbers as printf prints them', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [100, '100'],
    [0.1, '0.1'],
    [123456, '123456'],
    [1234567, '1.23457e+06'],
    [1e6, '1e+06'],
    [999999.5, '1e+06'],
    [999999.4, '999999'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.00001234565, '1.23456e-05'],
    [-2.5e-300, '-2.5e-300'],
    [1.7976931348623157e308, '1.79769e+308'],
    [5e-324, '4.94066e-324'],
    // Exactly in the middle: to the even digit.
    [100000.5, '100000'],
    [100001.5, '100002'],
    [2.0000025, '2'],
    [1000005, '1e+06'],
    [1000015, '1.00002e+06'],
    [0.5, '0.5'],
    [Number.POSITIVE_INFINITY, 'inf'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ])('%d', (value, text) => {
    expect(formatG(value)).toBe(text);
  });

  it('NaN shows its sign', async () => {
    const of = (sign: number) => Uint8Array.of(0, 0, 0xc0, 0x7f | sign, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f | sign);
    expect(await message('{} {}', [FLOAT, DOUBLE], of(0))).toBe('nan nan');
    expect(await message('{} {}', [FLOAT, DOUBLE], of(0x80))).toBe('-nan -nan');
  });

  it('integers of every size, at their limits', async () => {
    const text = '{} {} {} {} {}';
    const types = [INT8, INT16, INT32, INT64, UINT64];
    const least = [-128, -32_768, -2_147_483_648, -(1n << 63n), 0n];
    expect(await message(text, types, least)).toBe('-128 -32768 -2147483648 -9223372036854775808 0');
    expect(await message(text.replaceAll('{}', '{:08X}'), types, least)).toBe(
      'ffffff80 ffff8000 80000000 8000000000000000 0',
    );
    const greatest = [127, 32_767, 2_147_483_647, (1n << 63n) - 1n, (1n << 64n) - 1n];
    expect(await message(text, types, greatest)).toBe(
      '127 32767 2147483647 9223372036854775807 18446744073709551615',
    );
    for (const value of [
      999_999_999n,
      1_000_000_000n,
      4_294_967_296n,
      10n ** 18n,
      10n ** 19n + 7n,
      123_456_789_012_345_678n,
    ]) {
      expect(await message('{} {:x} {}', [UINT64, UINT64, POINTER], [value, value, value])).toBe(
        `${value} ${value.toString(16)} 0x${value.toString(16)}`,
      );
    }
    expect(await message('{}', [INT64], [-4_294_967_296n])).toBe('-4294967296');
  });

  it('cycles take ten columns, or more', () => {
    const text = new ByteText();
    for (const [lo, hi] of [
      [7, 0],
      [4_294_967_295, 0],
      [0, 1],
      [0xffff_ffff, 0xffff_ffff],
    ]) {
      text.padded64(lo, hi, 12);
      text.byte(0x7c);
    }
    expect(Buffer.from(text.used).toString()).toBe(
      '           7|  4294967295|  4294967296|18446744073709551615|',
    );
  });
});

describe('the text of a message', () => {
  it.each([
    ['{', [UINT8], [1], '{'],
    ['{}{', [UINT8], [1], '1{'],
    ['{{}} {}', [UINT8], [1], '1} {}'],
    ['{{literal}} {}', [UINT8, UINT8], [1, 2], '1} 2'],
    ['{ no end', [UINT8], [1], '{ no end'],
    ['{} {} {}', [UINT8], [1], '1 {} {}'],
    ['no holes', [UINT8], [1], 'no holes'],
    ['{:max}', [UINT32], [255], 'ff'],
    ['{:x} {:x} {:x}', [STRING, BOOL, FLOAT], ['text', false, 1.5], 'text false 1.5'],
    ['', [], [], ''],
  ] as const)('%s', async (text, types, values, expected) => {
    expect(await message(text, types, values)).toBe(expected);
  });

  it('has no argument whose bytes are not there, nor any after it', async () => {
    expect(await message('{} {} {}', [UINT8, UINT32, UINT8], Uint8Array.of(1, 2, 3, 4))).toBe('1 {} {}');
    expect(await message('{} {}', [STRING, UINT8], Uint8Array.of(0x41, 0x42))).toBe('{} {}');
    expect(await message('{} {}', [UINT8, 99, UINT8], Uint8Array.of(1, 2, 3))).toBe('1 {}');
  });

  it('keeps bytes that are not text', async () => {
    expect(await message('caf\udce9 {}', [STRING], Uint8Array.of(0xff, 0xfe, 0))).toBe('caf\xe9 \xff\xfe');
  });
});
