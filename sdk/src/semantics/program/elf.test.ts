import { describe, expect, it } from 'vitest';
import { elfFile } from '../../../../test/support/elf-file.js';
import { ElfSymbols } from './elf.js';

const BASE = 0x8000_0000;
const NAMES = [
  { name: 'second', from: BASE + 0x40, size: 0x20 },
  { name: '_start', from: BASE, type: 0 },
  { name: 'loop', from: BASE + 0x48, type: 0 },
  { name: '.L1', from: BASE + 0x44, type: 0 },
  { name: '$x', from: BASE, type: 0 },
  { name: 'table', from: BASE + 0x80, size: 64, type: 1 },
  { name: 'constant', from: BASE + 0x10, section: 0xfff1 },
  { name: 'third', from: BASE + 0x80 },
];

describe('the symbols of an ELF file', () => {
  it.each([
    { is64: false, isLittle: true },
    { is64: true, isLittle: true },
    { is64: false, isLittle: false },
    { is64: true, isLittle: false },
  ])('say which function an address is in: %o', (shape) => {
    const symbols = ElfSymbols.parse(elfFile(NAMES, { size: 0x100 }, shape));
    const nameOf = (offset: number): string | undefined => symbols.find(BigInt(BASE + offset))?.name;
    expect(symbols.functions.map(({ name }) => name)).toEqual(['_start', 'second', 'third']);
    // What has no size ends where the next begins; what has one ends there.
    expect([nameOf(0), nameOf(0x3f), nameOf(0x40), nameOf(0x5f), nameOf(0x60)]).toEqual([
      '_start',
      '_start',
      'second',
      'second',
      undefined,
    ]);
    expect([nameOf(0x48), nameOf(0x80), nameOf(0xff), nameOf(0x100), nameOf(-1)]).toEqual([
      'second',
      'third',
      'third',
      undefined,
      undefined,
    ]);
  });

  it('of a file without names, or of another kind, are an error that says so', () => {
    const codeOf = (bytes: Uint8Array): string => {
      try {
        ElfSymbols.parse(bytes);
        return 'none';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(codeOf(elfFile([]))).toBe('CONVERT_SOURCE');
    expect(codeOf(new Uint8Array(0))).toBe('CONVERT_FORMAT');
    expect(codeOf(new TextEncoder().encode('#!/bin/sh and some more text'))).toBe('CONVERT_FORMAT');
    const wrongClass = elfFile(NAMES);
    wrongClass[4] = 9;
    expect(codeOf(wrongClass)).toBe('CONVERT_FORMAT');
  });

  it('of a file that ends anywhere, or has any byte changed, are found or an error with a code', () => {
    const whole = elfFile(NAMES);
    for (let size = 0; size < whole.length; size++)
      expect(() => ElfSymbols.parse(whole.slice(0, size))).toThrow(/CONVERT_/);
    for (let at = 0; at < whole.length; at++) {
      for (const bits of [0xff, 0x80, 1]) {
        const bytes = whole.slice();
        bytes[at] ^= bits;
        try {
          ElfSymbols.parse(bytes);
        } catch (error) {
          expect(String((error as { code?: string }).code), `byte ${at}`).toMatch(/^CONVERT_/);
        }
      }
    }
  });
});
