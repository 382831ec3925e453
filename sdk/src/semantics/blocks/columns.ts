/** Puts the arrays of a block into one buffer. */
import type { Delays, Values } from './block.js';

const ALIGNMENT = 8;

type Column = Uint8Array | Uint16Array | Uint32Array | Int16Array | Int32Array | Float64Array;

/** Numbers below 2^32 in the narrowest array that holds them. */
export function valuesOf(numbers: readonly number[]): Values {
  const most = numbers.reduce((max, value) => Math.max(max, value), 0);
  if (most < 0x100) return Uint8Array.from(numbers);
  return most < 0x1_0000 ? Uint16Array.from(numbers) : Uint32Array.from(numbers);
}

/** Delays as they are: negative ones (frames that go back in time) and long ones are floating point. */
export function delaysOf(delays: readonly number[]): Delays {
  const isSmall = delays.every((delay) => delay >= 0 && delay < 2 ** 32);
  return isSmall ? valuesOf(delays) : Float64Array.from(delays);
}

/** The same object, with all typed arrays in it copied into one new buffer. */
export function inOneBuffer<T extends object>(block: T): T {
  let bytes = 0;
  const places = new Map<Column, number>();
  const measure = (value: unknown): void => {
    if (ArrayBuffer.isView(value)) {
      places.set(value as Column, bytes);
      bytes += Math.ceil(value.byteLength / ALIGNMENT) * ALIGNMENT;
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(measure);
  };
  measure(block);
  const buffer = new ArrayBuffer(bytes);
  const move = (value: unknown): unknown => {
    if (ArrayBuffer.isView(value)) return moved(value as Column, buffer, places.get(value as Column)!);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, move(part)]));
  };
  return move(block) as T;
}

function moved(column: Column, buffer: ArrayBuffer, at: number): Column {
  const Kind = column.constructor as new (buffer: ArrayBuffer, at: number, length: number) => Column;
  const copy = new Kind(buffer, at, column.length);
  copy.set(column);
  return copy;
}
