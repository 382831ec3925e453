/** The definitions of a VCD file: time scale, scopes and variables. */
import { concatBytes } from '../../../base/bytes.js';
import { UscopeError } from '../../../base/errors.js';
import { codeNumber } from './codes.js';
import { Oddities, type OddKind } from './oddities.js';
import { joinBits } from './vectors.js';

export interface VcdSignal {
  /** Scopes and name, with dots: `tb.uut.rvfi_valid`. An index that is part of the name stays: `tb.uut.regs[3]`. */
  readonly path: string;
  /** `wire`, `reg`, `real`, `string`, ... as it is written. */
  readonly kind: string;
  /** Bits; 64 for a real, 0 for a string. */
  readonly width: number;
  /** Index of the rightmost bit: 4 of `[7:4]`. */
  readonly lsb: number;
  /** The leftmost index is the lower one: `[0:7]`. */
  readonly isAscending: boolean;
  /** Number of the identifier code. Several variables may share one: they are the same net. Below 0: a vector that is joined from `bits`. */
  readonly code: number;
  /** Of a vector that the waveform has bit by bit, the bits from bit 0 on. */
  readonly bits?: readonly VcdSignal[];
}

export interface VcdHeader {
  readonly signals: readonly VcdSignal[];
  /** Vectors that the waveform has bit by bit. */
  readonly vectors: readonly VcdSignal[];
  readonly oddities: Oddities;
  /** ps of a unit of time: `numerator / denominator`; a denominator above 1 is a unit below 1 ps. */
  readonly numerator: number;
  readonly denominator: number;
  readonly timescale: string;
  /** What `$version` says. */
  readonly writer: string;
  /** Offset of the first byte after the definitions. */
  readonly end: number;
}

/** Definitions of millions of variables are some hundred bytes each. */
const MAX_HEADER_BYTES = 512 * 1024 * 1024;
const END_MARK = new TextEncoder().encode('$enddefinitions');
const END = new TextEncoder().encode('$end');
/** Editors and some tools begin a file with the mark of UTF-8. */
const BOM = [0xef, 0xbb, 0xbf];

/** Collects the bytes of the definitions. */
export class HeaderCollector {
  private pieces: Uint8Array[] = [];
  private length = 0;

  /** @param unit of time, instead of that of the file: `1ns` */
  constructor(private readonly unit?: string) {}

  /** The definitions and the bytes after them once both are there. @throws UscopeError CONVERT_LIMIT */
  add(piece: Uint8Array): { header: VcdHeader; rest: Uint8Array } | null {
    this.pieces.push(Uint8Array.prototype.slice.call(piece));
    this.length += piece.length;
    if (this.length > MAX_HEADER_BYTES)
      throw new UscopeError('CONVERT_LIMIT', `definitions of more than ${MAX_HEADER_BYTES} bytes`);
    // A mark may lie across two pieces, and what is before them needs no second look.
    const recent = concatBytes(this.pieces.slice(-2));
    if (endOfDefinitions(recent) < 0) return null;
    return this.parsed(false);
  }

  /** The file ends: it may have definitions only. @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED */
  end(): { header: VcdHeader; rest: Uint8Array } {
    const found = this.parsed(true);
    if (found) return found;
    if (this.length === 0) throw new UscopeError('CONVERT_FORMAT', 'the file is empty');
    throw new UscopeError(
      'CONVERT_TRUNCATED',
      'the file ends within its definitions: $enddefinitions is missing',
      { offset: this.length },
    );
  }

  private parsed(isWhole: boolean): { header: VcdHeader; rest: Uint8Array } | null {
    const all = this.joined();
    const bytes = Buffer.from(all.buffer, all.byteOffset, all.length);
    const mark = endOfDefinitions(all);
    if (mark < 0) return null;
    const end = bytes.indexOf(END, mark + END_MARK.length);
    const after = end + END.length;
    if (end < 0 || (after >= bytes.length && !isWhole)) return null;
    const from = BOM.every((byte, index) => bytes[index] === byte) ? BOM.length : 0;
    return {
      header: parseHeader(bytes.toString('utf8', from, mark), after, this.unit),
      rest: all.subarray(after),
    };
  }

  private joined(): Uint8Array {
    this.pieces = [concatBytes(this.pieces)];
    return this.pieces[0];
  }
}

/** Offset of the word; a name may hold it. */
function endOfDefinitions(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let mark = buffer.indexOf(END_MARK);
  while (mark > 0 && buffer[mark - 1] > 32) mark = buffer.indexOf(END_MARK, mark + 1);
  return mark;
}

const UNITS: Readonly<Record<string, readonly [number, number]>> = {
  s: [1_000_000_000_000, 1],
  ms: [1_000_000_000, 1],
  us: [1_000_000, 1],
  ns: [1000, 1],
  ps: [1, 1],
  fs: [1, 1000],
};

/** @throws UscopeError CONVERT_FORMAT with the offset of the word */
function parseHeader(text: string, end: number, unit?: string): VcdHeader {
  const parser = new HeaderParser(text);
  parser.run();
  const { writer, signals, oddities, timescale } = parser;
  const scale = unit === undefined ? parser.scale : scaleOf(unit);
  if (scale === null)
    throw new UscopeError('CONVERT_OPTION', `"${unit}" is not a unit of time; write it like unit=1ns`);
  return {
    ...{ signals, vectors: joinBits(signals), oddities, writer, end },
    ...{ numerator: scale.numerator, denominator: scale.denominator },
    timescale: unit === undefined ? timescale : `${unit} (the file says ${timescale})`,
  };
}

interface TimeScale {
  readonly count: number;
  readonly numerator: number;
  readonly denominator: number;
}

/** Any whole number of a unit. */
function scaleOf(text: string): TimeScale | null {
  const [, count, unit] = /^([1-9]\d{0,8})(s|ms|us|ns|ps|fs)$/.exec(text.replace(/\s/g, '')) ?? [];
  if (unit === undefined) return null;
  const [numerator, denominator] = UNITS[unit];
  return { count: Number(count), numerator: numerator * Number(count), denominator };
}

class HeaderParser {
  readonly signals: VcdSignal[] = [];
  readonly oddities = new Oddities();
  scale: TimeScale = { count: 1, numerator: 1, denominator: 1 };
  timescale = '1 ps (the file says none)';
  writer = '';
  private readonly words = /\S+/g;
  private readonly scopes: string[] = [];
  private path = '';
  private at = 0;

  constructor(private readonly text: string) {}

  run(): void {
    for (let word = this.next(); word !== null; word = this.next()) {
      if (word === '$end') continue;
      if (!word.startsWith('$')) this.fail(`"${word.slice(0, 40)}" among the definitions`);
      this.section(word, this.section_words());
    }
  }

  private section(keyword: string, words: string[]): void {
    if (keyword === '$var') this.variable(words);
    else if (keyword === '$scope') this.enter(words[1] ?? '');
    else if (keyword === '$upscope') {
      if (this.scopes.length === 0) this.odd('upscope', keyword);
      this.scopes.pop();
      this.path = pathOf(this.scopes);
    } else if (keyword === '$timescale') this.setScale(words.join(''));
    else if (keyword === '$version') this.writer = words.join(' ').slice(0, 200);
    // $date, $comment, and what single writers add ($attrbegin) say nothing of values.
  }

  private section_words(): string[] {
    const words: string[] = [];
    for (let word = this.next(); word !== '$end'; word = this.next()) {
      if (word === null) this.fail('a section without $end');
      words.push(word as string);
    }
    return words;
  }

  private enter(name: string): void {
    if (name === '') this.odd('scope', '$scope');
    this.scopes.push(plain(name));
    this.path = pathOf(this.scopes);
  }

  private setScale(text: string): void {
    const scale = scaleOf(text);
    if (scale === null) {
      this.fail(
        `$timescale "${text.slice(0, 40)}" is not a number below 10^9 and one of s, ms, us, ns, ps, fs; --opt unit=1ns says what a unit is`,
      );
    }
    if (![1, 10, 100].includes(scale.count)) this.odd('timescale', text);
    this.scale = scale;
    this.timescale = text;
  }

  private odd(kind: OddKind, text: string): void {
    this.oddities.count(kind, text, this.offset());
  }

  private offset(): number {
    return Buffer.byteLength(this.text.slice(0, this.at));
  }

  /** `$var wire 32 ! data [31:0] $end`, also with the range at the name; of `mem[3]` the index is part of the name. */
  private variable(words: string[]): void {
    const [kind = '', size = '', code = '', ...names] = words;
    if (!/^\d{1,7}$/.test(size) || names.length === 0) this.fail('a $var is not KIND SIZE CODE NAME');
    const number = codeNumber(code);
    if (number < 0)
      this.fail(
        `the identifier code "${code.slice(0, 20)}" has more than 8 characters, or others than ! to ~`,
      );
    const last = names.length > 1 ? (names.at(-1) as string) : '';
    const range = /^\[(-?\d+)(?::(-?\d+))?\]$/.exec(last);
    const written = range ? names.slice(0, -1).join('') : names.join('');
    const joined = plain(written);
    // Of an escaped name everything is the name.
    const own = range || joined !== written ? null : /^(.*)\[(-?\d+):(-?\d+)\]$/.exec(joined);
    // An index next to a single bit is a bit of a vector that was written bit by bit.
    const name = own ? own[1] : range && range[2] === undefined ? `${joined}${last}` : joined;
    const [left, right] = own ? [Number(own[2]), Number(own[3])] : bounds(range);
    this.signals.push({
      path: this.path === '' ? name : `${this.path}.${name}`,
      kind: kind.toLowerCase(),
      width: widthOf(kind.toLowerCase(), Number(size)),
      lsb: right,
      isAscending: left < right,
      code: number,
    });
  }

  private next(): string | null {
    const match = this.words.exec(this.text);
    if (!match) return null;
    this.at = match.index;
    return match[0];
  }

  private fail(what: string): never {
    throw new UscopeError('CONVERT_FORMAT', what, { offset: this.offset() });
  }
}

function bounds(range: RegExpExecArray | null): [left: number, right: number] {
  return range?.[2] === undefined ? [0, 0] : [Number(range[1]), Number(range[2])];
}

/** Escaped names lose their backslash. */
const plain = (name: string): string => (name.startsWith('\\') ? name.slice(1) : name);

/** Scopes without a name are not in a path. */
const pathOf = (scopes: readonly string[]): string => scopes.filter((scope) => scope !== '').join('.');

function widthOf(kind: string, size: number): number {
  if (kind === 'real' || kind === 'realtime' || kind === 'shortreal') return 64;
  if (kind === 'string') return 0;
  return kind === 'event' ? 1 : Math.max(size, 1);
}

export const isReal = ({ kind }: VcdSignal): boolean => /^(real|realtime|shortreal)$/.test(kind);
export const isText = ({ kind }: VcdSignal): boolean => kind === 'string';
