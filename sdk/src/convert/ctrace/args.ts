/** Arguments of events: packed without gaps, strings with a NUL behind them. */
import { UscopeError } from '../../base/errors.js';
import type { EventCursor } from './cursor.js';
import { decodeText, encodeText } from './text.js';
import { ArgType, argBytes, type CtraceValue, isArgType } from './types.js';

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

/** Where the arguments end by their types; -1 when they do not agree with the types, or more is there than rounding leaves. */
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

function valueAt(bytes: Uint8Array, view: DataView, at: number, size: number, type: number): CtraceValue {
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

/** @throws UscopeError CONVERT_SOURCE for a value that its type cannot hold */
export function encodeArgs(values: readonly CtraceValue[], types: readonly number[]): Uint8Array {
  if (values.length !== types.length) {
    throw new UscopeError('CONVERT_SOURCE', `${values.length} arguments for a format with ${types.length}`);
  }
  const pieces = values.map((value, i) => encodeArg(value, types[i]));
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
}

function encodeArg(value: CtraceValue, type: number): Uint8Array {
  if (type === ArgType.STRING) return encodeString(value);
  if (!isArgType(type) || typeof value === 'string') throw misfit(value, type);
  const bytes = new Uint8Array(argBytes(type));
  const view = new DataView(bytes.buffer);
  if (type === ArgType.FLOAT) view.setFloat32(0, Number(value), true);
  else if (type === ArgType.DOUBLE) view.setFloat64(0, Number(value), true);
  else putInteger(view, value, type);
  return bytes;
}

function encodeString(value: CtraceValue): Uint8Array {
  if (typeof value !== 'string' || value.includes('\0')) throw misfit(value, ArgType.STRING);
  const text = encodeText(value);
  const bytes = new Uint8Array(text.length + 1);
  bytes.set(text);
  return bytes;
}

function putInteger(view: DataView, value: number | bigint | boolean, type: number): void {
  if (typeof value === 'number' && !Number.isInteger(value)) throw misfit(value, type);
  const number = BigInt(value);
  const bits = 8 * view.byteLength;
  const isSigned = type <= ArgType.INT64;
  const low = isSigned ? -(1n << BigInt(bits - 1)) : 0n;
  if (number < low || number >= low + (1n << BigInt(bits))) throw misfit(value, type);
  const raw = BigInt.asUintN(bits, number);
  for (let i = 0; i < view.byteLength; i++) view.setUint8(i, Number((raw >> BigInt(8 * i)) & 0xffn));
}

function misfit(value: CtraceValue, type: number): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `${JSON.stringify(String(value))} is no value of type ${type}`);
}
