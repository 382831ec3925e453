/**
 * Events as the lines of Chronon's trace_reader, byte for byte. What depends only on the format is worked out once; an event then costs copies
 * and digits.
 *
 * A `{` and the next `}` after it represent an argument as long as arguments are left; x or X between them asks for hexadecimal digits.
 * All else is text as it is: braces without arguments or after an argument without a type, and doubled ones.
 */
import type { ByteText } from '../text/byte-text.js';
import { type EventCursor, sizeAt, valueAt } from './cursor.js';
import { encodeText } from './text.js';
import { ArgType, type CtraceFormat, type CtraceSchema, isArgType } from './types.js';

const CYCLE_WIDTH = 10;
const [OPEN, CLOSE, MINUS, NEWLINE, UPPER_X, LOWER_X] = [0x7b, 0x7d, 0x2d, 0x0a, 0x58, 0x78];
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const UNKNOWN = ascii('[unknown format]');
const AFTER_CYCLE = ascii('] ');
const NOTHING = new Uint8Array(0);

/** An argument's place in the text. */
interface Hole {
  readonly start: number;
  readonly end: number;
  readonly type: number;
  readonly isHex: boolean;
}

interface CompiledFormat {
  readonly text: Uint8Array;
  readonly holes: readonly Hole[];
}

export class LineFormatter {
  private readonly formats = new Map<number, CompiledFormat>();
  /** `name: ` by unit id. */
  private readonly units: Uint8Array[] = [];

  constructor(schema: CtraceSchema) {
    for (const format of schema.formats) {
      if (!this.formats.has(format.id)) this.formats.set(format.id, compile(format));
    }
    for (const { id, name } of schema.units) this.units[id] = name ? encodeText(`${name}: `) : NOTHING;
  }

  /** The event's line, with its newline. */
  line(cursor: EventCursor, out: ByteText): void {
    out.byte(0x5b);
    out.padded64(cursor.cycleLo, cursor.cycleHi, CYCLE_WIDTH);
    out.copy(AFTER_CYCLE);
    out.copy(this.units[cursor.source] ?? NOTHING);
    this.message(cursor, out);
    out.byte(NEWLINE);
  }

  message(cursor: EventCursor, out: ByteText): void {
    const format = this.formats.get(cursor.formatId);
    if (!format) {
      out.copy(UNKNOWN);
      return;
    }
    const { text, holes } = format;
    const { bytes, argCount, argsEnd } = cursor;
    let at = cursor.argsAt;
    let done = 0;
    for (let i = 0; i < holes.length && i < argCount && at < argsEnd; i++) {
      const hole = holes[i];
      const size = sizeAt(bytes, at, argsEnd, hole.type);
      if (at + size > argsEnd) break;
      out.copy(text, done, hole.start);
      writeArg(cursor, at, size, hole, out);
      done = hole.end;
      at += size;
    }
    out.copy(text, done);
  }
}

function compile({ text, argTypes }: CtraceFormat): CompiledFormat {
  const bytes = encodeText(text);
  const holes: Hole[] = [];
  const typed = argTypes.findIndex((type) => !isArgType(type));
  const count = typed < 0 ? argTypes.length : typed;
  for (let at = 0; holes.length < count; ) {
    const start = bytes.indexOf(OPEN, at);
    if (start < 0) break;
    const close = bytes.indexOf(CLOSE, start + 1);
    if (close < 0) break;
    const spec = bytes.subarray(start + 1, close);
    const isHex = spec.includes(LOWER_X) || spec.includes(UPPER_X);
    holes.push({ start, end: close + 1, type: argTypes[holes.length], isHex });
    at = close + 1;
  }
  return { text: bytes, holes };
}

function writeArg(
  { bytes, view }: EventCursor,
  at: number,
  size: number,
  { type, isHex }: Hole,
  out: ByteText,
): void {
  switch (type) {
    case ArgType.INT64:
      writeWide(view.getUint32(at, true), view.getInt32(at + 4, true), isHex, out);
      break;
    case ArgType.UINT64:
      writeWide(view.getUint32(at, true), view.getUint32(at + 4, true), isHex, out);
      break;
    case ArgType.FLOAT:
      writeFloat(view.getFloat32(at, true), view.getUint32(at, true), out);
      break;
    case ArgType.DOUBLE:
      writeFloat(view.getFloat64(at, true), view.getUint32(at + 4, true), out);
      break;
    case ArgType.POINTER:
      out.ascii('0x');
      out.hex64(view.getUint32(at, true), view.getUint32(at + 4, true));
      break;
    case ArgType.STRING:
      out.copy(bytes, at, at + size - 1);
      break;
    case ArgType.BOOL:
      out.ascii(view.getUint8(at) ? 'true' : 'false');
      break;
    default:
      writeNumber(valueAt(bytes, view, at, size, type) as number, isHex, out);
  }
}

/** Up to 32 bits: they become an int, so hexadecimal digits are those of 32 bits. */
function writeNumber(value: number, isHex: boolean, out: ByteText): void {
  if (isHex) out.hex(value >>> 0);
  else if (value < 0) {
    out.byte(MINUS);
    out.decimal(-value);
  } else out.decimal(value);
}

/** A high half below 0 is that of a negative number. */
function writeWide(lo: number, hi: number, isHex: boolean, out: ByteText): void {
  if (isHex) out.hex64(lo, hi >>> 0);
  else if (hi < 0) {
    out.byte(MINUS);
    const low = -lo >>> 0;
    out.decimal64(low, (~hi + (low === 0 ? 1 : 0)) >>> 0);
  } else out.decimal64(lo, hi);
}

function writeFloat(value: number, bits: number, out: ByteText): void {
  out.ascii(Number.isNaN(value) ? formatNaN(bits) : formatG(value));
}

// Floating-point numbers as C's `printf("%g")` prints them.

const DIGITS = 6;
/** The most significant digits a double can need to differ from the middle between two numbers of seven digits. */
const EXACT_DIGITS = 60;

export function formatG(value: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0`;
  const [mantissa, exponentText] = sixDigits(Math.abs(value)).split('e');
  const exponent = Number(exponentText);
  const digits = mantissa.replace('.', '').replace(/0+$/, '');
  if (exponent < -4 || exponent >= DIGITS) return sign + scientific(digits, exponent);
  return sign + positional(digits, exponent);
}

/** Sign of a NaN included: printf shows it. @param bits the upper 32 bits of the double, or those of the float */
export function formatNaN(bits: number): string {
  return bits >>> 31 ? '-nan' : 'nan';
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value < 0 ? '-inf' : 'inf';
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return fraction ? `${whole}.${fraction}` : whole;
}

/** `d.ddddde±x`. JavaScript rounds a number exactly in the middle away from zero, C to the even digit. */
function sixDigits(value: number): string {
  const rounded = value.toExponential(DIGITS - 1);
  const seven = value.toExponential(DIGITS);
  const [mantissa, exponent] = seven.split('e');
  if (!mantissa.endsWith('5') || Number(seven) !== value) return rounded;
  const isMiddle = /^\d\.\d{6}0*$/.test(value.toExponential(EXACT_DIGITS).split('e')[0]);
  const isEven = Number(mantissa.at(-2)) % 2 === 0;
  return isMiddle && isEven ? `${mantissa.slice(0, -1)}e${exponent}` : rounded;
}
