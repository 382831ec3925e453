/**
 * The value changes of a VCD file: bytes to values of the signals that are followed. This is the loop that each byte passes, so it allocates
 * only for reals and strings, and skips what is not followed.
 */
import { concatBytes } from '../../../base/bytes.js';
import { isUscopeError, UscopeError } from '../../../base/errors.js';
import { type CodeTable, NOT_DECLARED, Oddities, type OddKind } from './codes.js';
import type { SignalStore } from './signal-store.js';

/** What is called as time passes. */
export interface StepListener {
  /** All changes of the step at `time` are in the store, as those of the step. The listener settles it. */
  step(time: number): void;
  /** `$dumpoff`: until `$dumpon` nothing is recorded. */
  dumping(isOn: boolean, time: number): void;
}

/** A vector of a million bits, or a long string; more is not VCD. */
const MAX_TOKEN_BYTES = 16 * 1024 * 1024;

const HASH = 0x23;
const LETTER_B = 0x62;
const LETTER_R = 0x72;
const DOLLAR = 0x24;
const POINT = 0x2e;
const LINE_END = Uint8Array.of(10);
const latin1 = new TextDecoder('latin1');

/** What a character of a value means: 0, 1, unknown (x, z and those of VHDL), or nothing. */
const BIT = new Uint8Array(256).fill(9);
for (const [characters, bit] of [
  ['0lL', 0],
  ['1hH', 1],
  ['xXzZuUwW-', 2],
] as const) {
  for (const character of characters) BIT[character.charCodeAt(0)] = bit;
}

/** Vectors, reals and strings: what a code follows after a blank. */
const IS_LONG = new Uint8Array(256);
for (const character of 'bBrRsS') IS_LONG[character.charCodeAt(0)] = 1;

export class ChangeReader {
  /** Of the last `#`; -1 before the first one. */
  time = -1;
  /** Changes of signals, followed or not. */
  changes = 0;
  private rest = new Uint8Array(0);
  /** Offset in the file of the first byte of `rest`. */
  private offset: number;
  private inComment = false;
  private isDumping = true;
  private dumpsOff = false;
  /** Some signal of bits had a text or a real. */
  private isMixed = false;
  readonly oddities = new Oddities();

  constructor(
    private readonly codes: CodeTable,
    private readonly store: SignalStore,
    private readonly listener: StepListener,
    offset: number,
  ) {
    this.offset = offset;
  }

  /** @throws UscopeError CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT with the offset of the word */
  feed(piece: Uint8Array): void {
    const bytes = this.rest.length === 0 ? piece : concatBytes([this.rest, piece]);
    const used = this.scan(bytes, bytes.length);
    this.offset += used;
    this.rest = Uint8Array.prototype.slice.call(bytes, used);
    if (this.rest.length > MAX_TOKEN_BYTES)
      this.fail('CONVERT_LIMIT', `a value of more than ${MAX_TOKEN_BYTES} bytes`, 0);
  }

  /** The last step is over. Null, or the offset of what the file ends within: it is not taken. */
  finish(): number | null {
    const isCut = !this.takeLast() || this.inComment;
    this.endStep();
    return isCut ? this.offset : null;
  }

  /** A last word without an end of line is taken if it is one. */
  private takeLast(): boolean {
    const { rest } = this;
    if (rest.length === 0) return true;
    if (this.inComment || rest.length > MAX_TOKEN_BYTES) return false;
    const undeclared = this.oddities.countOf('undeclared');
    try {
      if (this.scan(concatBytes([rest, LINE_END]), rest.length + 1) <= rest.length) return false;
    } catch (error) {
      if (isUscopeError(error)) return false;
      throw error;
    }
    if (this.oddities.countOf('undeclared') > undeclared) return false;
    this.odd('lastLine', rest, 0, rest.length);
    return true;
  }

  /** Returns how many bytes were taken: up to the first word that may go on in the next piece. */
  private scan(bytes: Uint8Array, end: number): number {
    const { dense } = this.codes;
    const denseLength = dense.length;
    let i = 0;
    for (;;) {
      while (i < end && bytes[i] <= 32) i++;
      if (i >= end) return i;
      const start = i;
      const first = bytes[i];
      const bit = BIT[first];
      if (this.inComment || first === DOLLAR) {
        const after = wordEnd(bytes, i, end);
        if (after >= end) return start;
        this.keyword(latin1.decode(bytes.subarray(i, Math.min(after, i + 64))), start);
        i = after;
        continue;
      }
      if (bit !== 9) {
        let code = 0;
        let at = i + 1;
        for (; at < end && bytes[at] > 32; at++) code = code * 94 + (bytes[at] - 32);
        if (at >= end) return start;
        const signal = code < denseLength ? dense[code] : this.codes.lookUp(code);
        i = at;
        this.changes++;
        if (signal >= 0) this.scalar(signal, bit);
        else if (signal === NOT_DECLARED) this.odd('undeclared', bytes, start, at);
        continue;
      }
      if (first === HASH) {
        let time = 0;
        let at = i + 1;
        for (; at < end && bytes[at] > 32; at++) {
          const digit = bytes[at] - 48;
          if (bytes[at] === POINT && at > i + 1) break;
          if (digit < 0 || digit > 9) this.fail('CONVERT_FORMAT', 'a time is not a number', start);
          time = time * 10 + digit;
        }
        if (bytes[at] === POINT) at = this.fraction(bytes, start, at, end);
        if (at >= end) return start;
        if (at === i + 1) this.fail('CONVERT_FORMAT', 'a time is not a number', start);
        this.moveTo(time, start);
        i = at;
        continue;
      }
      if (!IS_LONG[first]) this.notAChange(bytes, start, end);
      // A value, blanks, a code.
      const valueEnd = wordEnd(bytes, i, end);
      let at = valueEnd;
      while (at < end && bytes[at] <= 32) at++;
      let code = 0;
      const codeStart = at;
      for (; at < end && bytes[at] > 32; at++) code = code * 94 + (bytes[at] - 32);
      if (at >= end || codeStart === valueEnd) return start;
      const signal = code < denseLength ? dense[code] : this.codes.lookUp(code);
      if (signal === NOT_DECLARED) this.odd('undeclared', bytes, start, at);
      this.changes++;
      i = at;
      if (signal >= 0) this.long(signal, first | 0x20, bytes, start + 1, valueEnd);
    }
  }

  /** The change says what the value is, whatever the declaration: `kind` is its letter. */
  private long(signal: number, kind: number, bytes: Uint8Array, from: number, to: number): void {
    const { store } = this;
    const width = store.widths[signal];
    if (kind === LETTER_B) {
      const digits = from + this.prefix(bytes, from, to);
      if (width === 0) this.other(signal, latin1.decode(bytes.subarray(digits, to)));
      else {
        this.bits(signal, bytes, digits, to);
        if (this.isMixed || store.isPart[signal] === 1) this.isBits(signal);
      }
      return;
    }
    const value =
      kind === LETTER_R
        ? this.real(latin1.decode(bytes.subarray(from, to)), from - 1)
        : textOfBytes(bytes.subarray(from, to));
    this.other(signal, value);
    if (width === 0) return;
    this.odd('otherKind', bytes, from - 1, to);
    this.isMixed = true;
    this.clear(signal);
    this.fillUnknown(signal, 0);
    store.spread(signal);
  }

  private other(signal: number, value: number | string): void {
    this.store.nextOthers[signal] = value;
    this.store.mark(signal);
  }

  private isBits(signal: number): void {
    this.store.nextOthers[signal] = '';
    this.store.spread(signal);
  }

  /** `b0b0101`: how long what is before the digits is. */
  private prefix(bytes: Uint8Array, from: number, to: number): number {
    if (to - from < 3 || bytes[from] !== 0x30 || (bytes[from + 1] | 0x20) !== LETTER_B) return 0;
    this.odd('prefix', bytes, from - 1, to);
    return 2;
  }

  /** Where a time with a fraction ends; what is not 0 there is counted. */
  private fraction(bytes: Uint8Array, start: number, point: number, end: number): number {
    let isZero = true;
    let at = point + 1;
    for (; at < end && bytes[at] > 32; at++) {
      const digit = bytes[at] - 48;
      if (digit < 0 || digit > 9) this.fail('CONVERT_FORMAT', 'a time is not a number', start);
      if (digit !== 0) isZero = false;
    }
    if (!isZero && at < end) this.odd('fraction', bytes, start, at);
    return at;
  }

  private scalar(signal: number, bit: number): void {
    const { store } = this;
    if (store.isSingle[signal] === 0 || this.isMixed) {
      this.scalarOfOther(signal, bit);
      return;
    }
    const word = store.offsets[signal];
    store.nextBits[word] = bit & 1;
    store.nextUnknown[word] = bit >>> 1;
    if (store.isDirty[signal] === 0) store.mark(signal);
  }

  /** A single character for what is not a single bit: the bits on its left are as of a vector that is too short. */
  private scalarOfOther(signal: number, bit: number): void {
    const { store } = this;
    if (store.widths[signal] === 0) {
      this.other(signal, '01x'[bit]);
      return;
    }
    this.clear(signal);
    const word = store.offsets[signal];
    store.nextBits[word] = bit & 1;
    if (bit === 2) this.fillUnknown(signal, 0);
    store.mark(signal);
    this.isBits(signal);
  }

  private clear(signal: number): void {
    const { nextBits, nextUnknown, offsets, widths } = this.store;
    const end = offsets[signal] + ((widths[signal] + 31) >>> 5);
    for (let word = offsets[signal]; word < end; word++) nextBits[word] = nextUnknown[word] = 0;
  }

  /** Missing bits on the left are 0, or unknown like the leftmost one. */
  private bits(signal: number, bytes: Uint8Array, from: number, to: number): void {
    const { store } = this;
    const width = store.widths[signal];
    const first = store.offsets[signal];
    let at = to - 1;
    for (let word = first, left = width; left > 0; word++, left -= 32) {
      let bits = 0;
      let unknown = 0;
      const here = Math.min(left, 32);
      for (let k = 0; k < here && at >= from; k++, at--) {
        const bit = BIT[bytes[at]];
        if (bit === 9) this.notAVector(bytes, from, to);
        bits |= (bit & 1) << k;
        unknown |= (bit >>> 1) << k;
      }
      store.nextBits[word] = bits;
      store.nextUnknown[word] = unknown;
    }
    // Digits beyond the width are left out.
    for (; at >= from; at--) if (BIT[bytes[at]] === 9) this.notAVector(bytes, from, to);
    if (to - from < width && BIT[bytes[from]] === 2) this.fillUnknown(signal, to - from);
    if (store.isDirty[signal] === 0) store.mark(signal);
  }

  private notAVector(bytes: Uint8Array, from: number, to: number): never {
    return this.fail('CONVERT_FORMAT', `${shown(bytes, from, to)} is not a vector`, from - 1);
  }

  private fillUnknown(signal: number, firstBit: number): void {
    const { nextUnknown, offsets, widths } = this.store;
    for (let bit = firstBit; bit < widths[signal]; bit++)
      nextUnknown[offsets[signal] + (bit >>> 5)] |= 1 << (bit & 31);
  }

  private real(text: string, start: number): number {
    const value = Number(text);
    // Writers also print nan and inf.
    if (text === '' || (Number.isNaN(value) && !/^[+-]?(nan|inf|infinity)$/i.test(text)))
      this.fail('CONVERT_FORMAT', `"r${text.slice(0, 40)}" is not a real`, start);
    return value;
  }

  private keyword(word: string, start: number): void {
    if (this.inComment) {
      this.inComment = word !== '$end';
      return;
    }
    if (word === '$comment') this.inComment = true;
    else if (word === '$dumpoff') this.dumping(false);
    else if (word === '$dumpon') this.dumping(true);
    else if (word === '$end') this.endOfBlock();
    else if (word !== '$dumpvars' && word !== '$dumpall') {
      this.oddities.count('keyword', word, this.offset + start);
      this.inComment = true;
    }
  }

  /** What follows `$dumpoff` makes all x, and what follows `$dumpon` gives all values: neither is a change of the design. */
  private dumping(isOn: boolean): void {
    this.endStep();
    if (isOn) this.dumpsOff = false;
    else this.dumpsOff = true;
    this.isDumping = false;
    this.listener.dumping(false, this.time);
  }

  private endOfBlock(): void {
    if (this.isDumping || this.dumpsOff) return;
    this.store.settle();
    this.isDumping = true;
    this.listener.dumping(true, this.time);
  }

  private moveTo(time: number, start: number): void {
    if (time < this.time) this.fail('CONVERT_FORMAT', `time goes back from ${this.time} to ${time}`, start);
    if (!Number.isSafeInteger(time))
      this.fail('CONVERT_UNSUPPORTED', 'times above 2^53 units are not covered', start);
    if (time === this.time) return;
    this.endStep();
    this.time = time;
  }

  private endStep(): void {
    if (!this.isDumping) this.store.settle();
    else if (this.time >= 0 || this.store.dirtyCount > 0) this.listener.step(Math.max(this.time, 0));
  }

  private notAChange(bytes: Uint8Array, start: number, end: number): never {
    if (bytes[start] === 0x70)
      this.fail(
        'CONVERT_UNSUPPORTED',
        'values of ports (extended VCD) are not covered; dump with $dumpvars',
        start,
      );
    const word = shown(bytes, start, wordEnd(bytes, start, end));
    return this.fail('CONVERT_FORMAT', `${word} is not a change of a value`, start);
  }

  private odd(kind: OddKind, bytes: Uint8Array, from: number, to: number): void {
    this.oddities.count(
      kind,
      latin1.decode(bytes.subarray(from, Math.min(to, from + 40))),
      this.offset + from,
    );
  }

  private fail(
    code: 'CONVERT_FORMAT' | 'CONVERT_UNSUPPORTED' | 'CONVERT_LIMIT',
    what: string,
    at: number,
  ): never {
    throw new UscopeError(code, `${what}, at time ${Math.max(this.time, 0)}`, { offset: this.offset + at });
  }
}

function wordEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] > 32) at++;
  return at;
}

const shown = (bytes: Uint8Array, from: number, to: number): string =>
  JSON.stringify(latin1.decode(bytes.subarray(from, Math.min(to, from + 40))));

// Texts of `s` changes: a blank ends a word of the file, so that writers escape as C does (`\040`, `\n`, `\x20`), which GTKWave reads, too.

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([abfnrtv\\'"?]))/g;
const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are not UTF-8 are Latin-1, the characters of VHDL. */
export function textOfBytes(bytes: Uint8Array): string {
  // A character for each byte: `latin1` of TextDecoder is Windows-1252, which differs from 0x80 to 0x9f.
  const text = unescaped(Buffer.from(bytes).toString('latin1'));
  try {
    return utf8.decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, octal?: string, hex?: string, letter = '') => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    return hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16));
  });
}
