/** Walks over the events of a block without allocating: the fields of the present event are read into numbers. */
import { UscopeError } from '../../base/errors.js';
import { decodeText, encodeText } from './text.js';
import {
  ArgType,
  argBytes,
  type CtraceValue,
  EVENT_HEADER_BYTES,
  isArgType,
  MAX_ARGS_BYTES,
} from './types.js';

export class EventCursor {
  bytes: Uint8Array = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);
  cycleLo = 0;
  cycleHi = 0;
  formatId = 0;
  /** Bit mask of 32 bits. */
  category = 0;
  source = 0;
  argCount = 0;
  /** The arguments in `bytes`: from here, */
  argsAt = 0;
  /** to here. The size may have been rounded up: the types of the format say what is meant. */
  argsEnd = 0;
  /** Events passed in all blocks. */
  events = 0;
  private at = 0;
  private end = 0;
  private offset = 0;

  /**
   * @param bytes of a block, decompressed
   * @param offset of the block in the file, for errors
   * @param isCut the bytes end early: an event that is not whole is none
   */
  begin(bytes: Uint8Array, offset: number, isCut = false): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = isCut ? wholeEvents(this.view) : bytes.length;
    this.offset = offset;
  }

  get cycle(): bigint {
    return (BigInt(this.cycleHi) << 32n) | BigInt(this.cycleLo);
  }

  /** Place of the present event in the decompressed block. */
  get blockOffset(): number {
    return this.argsAt - EVENT_HEADER_BYTES;
  }

  /** Which part of the block has been taken, from 0 to 1. */
  get part(): number {
    return this.end === 0 ? 0 : this.at / this.end;
  }

  /** To the next event; false after the last. @throws UscopeError CONVERT_FORMAT when it does not fit into its block */
  next(): boolean {
    const { at, view } = this;
    if (at >= this.end) return false;
    const argsAt = at + EVENT_HEADER_BYTES;
    if (argsAt > this.end) throw this.overrun(at);
    const argsEnd = argsAt + view.getUint16(at, true);
    if (argsEnd > this.end) throw this.overrun(at);
    this.cycleLo = view.getUint32(at + 2, true);
    this.cycleHi = view.getUint32(at + 6, true);
    this.formatId = view.getUint32(at + 10, true);
    this.category = view.getUint32(at + 14, true);
    this.source = view.getUint16(at + 18, true);
    this.argCount = view.getUint8(at + 20);
    this.argsAt = argsAt;
    this.argsEnd = argsEnd;
    this.at = argsEnd;
    this.events++;
    return true;
  }

  private overrun(at: number): UscopeError {
    const detail = `the event at byte ${at} of a block of ${this.end} continues beyond its end`;
    return new UscopeError('CONVERT_FORMAT', detail, { offset: this.offset });
  }
}

/** Bytes up to the end of the last event that is whole. */
function wholeEvents(view: DataView): number {
  let at = 0;
  while (at + EVENT_HEADER_BYTES <= view.byteLength) {
    const next = at + EVENT_HEADER_BYTES + view.getUint16(at, true);
    if (next > view.byteLength) break;
    at = next;
  }
  return at;
}

// Arguments of events: packed without gaps, strings with a NUL after them.

/** The values that are there whole, as far as they have types. */
export function decodeArgs(cursor: EventCursor, types: readonly number[]): CtraceValue[] {
  const { bytes, view, argsEnd } = cursor;
  const values: CtraceValue[] = [];
  const count = Math.min(cursor.argCount, types.length);
  let at = cursor.argsAt;
  for (let i = 0; i < count; i++) {
    const size = sizeAt(bytes, at, argsEnd, types[i]);
    if (size === 0 || at + size > argsEnd) break;
    values.push(valueAt(bytes, view, at, size, types[i]));
    at += size;
  }
  return values;
}

/** Bytes that an argument takes at `at`; of a string one too many when its NUL is missing. */
export function sizeAt(bytes: Uint8Array, at: number, end: number, type: number): number {
  if (type !== ArgType.STRING) return argBytes(type);
  let stop = at;
  while (stop < end && bytes[stop] !== 0) stop++;
  return stop - at + 1;
}

/** The place at which the arguments end by their types; -1 when they do not agree with the types, or more is there than rounding leaves. */
export function exactEnd(cursor: EventCursor, types: readonly number[]): number {
  const { bytes, argsEnd } = cursor;
  if (cursor.argCount !== types.length) return -1;
  let at = cursor.argsAt;
  for (let i = 0; i < types.length; i++) {
    const size = sizeAt(bytes, at, argsEnd, types[i]);
    if (size === 0) return -1;
    at += size;
  }
  return at <= argsEnd && argsEnd - at < 8 ? at : -1;
}

/** The argument of `size` bytes at `at`, with the NUL of a string. */
export function valueAt(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  size: number,
  type: number,
): CtraceValue {
  switch (type) {
    case ArgType.INT8:
      return view.getInt8(at);
    case ArgType.INT16:
      return view.getInt16(at, true);
    case ArgType.INT32:
      return view.getInt32(at, true);
    case ArgType.INT64:
      return view.getBigInt64(at, true);
    case ArgType.UINT8:
      return view.getUint8(at);
    case ArgType.UINT16:
      return view.getUint16(at, true);
    case ArgType.UINT32:
      return view.getUint32(at, true);
    case ArgType.FLOAT:
      return view.getFloat32(at, true);
    case ArgType.DOUBLE:
      return view.getFloat64(at, true);
    case ArgType.STRING:
      return decodeText(bytes.subarray(at, at + size - 1));
    case ArgType.BOOL:
      return view.getUint8(at) !== 0;
    default:
      return view.getBigUint64(at, true);
  }
}

/** Encodes into the same memory again and again. */
export class ArgEncoder {
  private readonly bytes = new Uint8Array(MAX_ARGS_BYTES);
  private readonly view = new DataView(this.bytes.buffer);
  private used = 0;

  /** Valid until the next call. @throws UscopeError CONVERT_SOURCE for a value that its type cannot hold, CONVERT_LIMIT */
  encode(values: readonly CtraceValue[], types: readonly number[]): Uint8Array {
    if (values.length !== types.length) {
      throw new UscopeError('CONVERT_SOURCE', `${values.length} arguments for a format with ${types.length}`);
    }
    this.used = 0;
    for (let i = 0; i < types.length; i++) {
      if (types[i] === ArgType.STRING) this.string(values[i]);
      else this.number(values[i], types[i]);
    }
    return this.bytes.subarray(0, this.used);
  }

  private number(value: CtraceValue, type: number): void {
    if (!isArgType(type) || typeof value === 'string') throw misfit(value, type);
    const at = this.reserve(argBytes(type));
    if (type === ArgType.FLOAT) this.view.setFloat32(at, Number(value), true);
    else if (type === ArgType.DOUBLE) this.view.setFloat64(at, Number(value), true);
    else if (argBytes(type) === 8) this.integer64(at, value, type);
    else this.integer(at, value, type);
  }

  private integer(at: number, value: number | bigint | boolean, type: number): void {
    const number = Number(value);
    const [least, greatest] = RANGES[type];
    if (!Number.isInteger(number) || number < least || number > greatest) throw misfit(value, type);
    const size = argBytes(type);
    if (size === 4) this.view.setInt32(at, number, true);
    else if (size === 2) this.view.setInt16(at, number, true);
    else this.bytes[at] = number;
  }

  private integer64(at: number, value: number | bigint | boolean, type: number): void {
    if (typeof value === 'number' && !Number.isInteger(value)) throw misfit(value, type);
    const number = BigInt(value);
    const isWithin = type === ArgType.INT64 ? BigInt.asIntN(64, number) : BigInt.asUintN(64, number);
    if (isWithin !== number) throw misfit(value, type);
    this.view.setBigInt64(at, number, true);
  }

  private string(value: CtraceValue): void {
    if (typeof value !== 'string' || value.includes('\0')) throw misfit(value, ArgType.STRING);
    const text = encodeText(value);
    const at = this.reserve(text.length + 1);
    this.bytes.set(text, at);
    this.bytes[at + text.length] = 0;
  }

  private reserve(size: number): number {
    const at = this.used;
    this.used += size;
    if (this.used <= MAX_ARGS_BYTES) return at;
    const detail = `the arguments of an event take ${this.used} bytes or more; their size has 16 bits`;
    throw new UscopeError('CONVERT_LIMIT', detail);
  }
}

/** Least and greatest value of the types up to 32 bits. */
const RANGES: Readonly<Record<number, readonly [number, number]>> = {
  [ArgType.INT8]: [-128, 127],
  [ArgType.INT16]: [-32_768, 32_767],
  [ArgType.INT32]: [-2_147_483_648, 2_147_483_647],
  [ArgType.UINT8]: [0, 255],
  [ArgType.UINT16]: [0, 65_535],
  [ArgType.UINT32]: [0, 4_294_967_295],
  [ArgType.BOOL]: [0, 1],
};

function misfit(value: CtraceValue, type: number): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `${JSON.stringify(String(value))} is not a value of type ${type}`);
}
