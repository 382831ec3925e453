/**
 * The compiled loops of the Parquet writer (sdk/kernel/parquet) with their memory. One page of one column at a time: `reset`, then what makes its levels and
 * values, then the page itself: `beginPage`, what is put one after the other, `page`. Addresses and the page are valid until the next `reset`.
 */
import { instanceOf } from '../../../base/webassembly.js';
import { bytes } from '../../../wasm/parquet.wasm.js';

/** Of a column's values: those that are there, one after the other, and a level for each. */
export interface Present {
  readonly values: number;
  readonly count: number;
  readonly levels: number;
}

export interface Levels {
  readonly definition: number;
  /** 0: the column is in no list. */
  readonly repetition: number;
  readonly count: number;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __heap_base: { readonly value: number };
  present_numbers(values: number, count: number, present: number, levels: number): number;
  present_words(values: number, missing: number, count: number, present: number, levels: number): number;
  present_codes(values: number, count: number, present: number, levels: number): number;
  list_levels(
    counts: number,
    rows: number,
    levels: number,
    filled: number,
    repetition: number,
    definition: number,
  ): number;
  bounds(values: number, count: number, result: number): void;
  delta_pack(values: number, count: number, out: number): number;
  runs_pack(values: number, count: number, width: number, out: number): number;
}

const PAGE_BYTES = 64 * 1024;
const ALIGNMENT = 16;
/** Numbers that are copied at a time: they are in the processor's cache when they are read. */
const BATCH = 2048;
const RESULT_BYTES = 16;
const LENGTH_BYTES = 4;
/** As sdk/kernel/parquet/pack.h has it. */
const DELTA_BLOCK = 2048;

let shared: ParquetKernel | undefined;

/** That of this thread. */
export function parquetKernel(): ParquetKernel {
  shared ??= new ParquetKernel();
  return shared;
}

export class ParquetKernel {
  private readonly code: Exports;
  /** Of two values of 64 bits. */
  private readonly result: number;
  private next: number;
  /** The page that is being made. */
  private first = 0;
  private end = 0;

  constructor() {
    const module = new WebAssembly.Module(bytes());
    this.code = instanceOf(module);
    this.result = aligned(this.code.__heap_base.value);
    this.next = this.result + RESULT_BYTES;
  }

  reset(): void {
    this.next = this.result + RESULT_BYTES;
  }

  presentNumbers(values: Float64Array, count: number): Present {
    const [from, present, levels] = [this.take(BATCH * 8), this.take(count * 8), this.take(count * 4)];
    const target = new Float64Array(this.code.memory.buffer, from, BATCH);
    let there = 0;
    for (let first = 0; first < count; first += BATCH) {
      const batch = Math.min(BATCH, count - first);
      target.set(values.subarray(first, first + batch));
      there += this.code.present_numbers(from, batch, present + there * 8, levels + first * 4);
    }
    return { values: present, levels, count: there };
  }

  /** @param words two for each value, the lower one first */
  presentWords(words: Uint32Array, missing: Uint8Array, count: number): Present {
    const [from, marks] = [this.copy(words, count * 2), this.copy(missing, count)];
    const [present, levels] = [this.take(count * 8), this.take(count * 4)];
    const there = this.code.present_words(from, marks, count, present, levels);
    return { values: present, levels, count: there };
  }

  /** @param fill sets the codes, negative ones where they are missing; it calls nothing of the kernel */
  presentCodes(count: number, fill: (codes: Int32Array) => void): Present {
    const [from, present, levels] = [this.take(count * 4), this.take(count * 4), this.take(count * 4)];
    fill(new Int32Array(this.code.memory.buffer, from, count));
    return { values: present, levels, count: this.code.present_codes(from, count, present, levels) };
  }

  /** @param filled level of a field that is there @param entries of all rows together */
  listLevels(
    counts: Uint32Array,
    rows: number,
    entries: number,
    { levels }: Present,
    filled: number,
  ): Levels {
    const most = (entries + rows) * 4;
    const [from, repetition, definition] = [this.copy(counts, rows), this.take(most), this.take(most)];
    const count = this.code.list_levels(from, rows, levels, filled, repetition, definition);
    return { repetition, definition, count };
  }

  /** The smallest and the largest value. */
  bounds({ values, count }: Present): [bigint, bigint] {
    const { result } = this;
    this.code.bounds(values, count, result);
    const view = new DataView(this.code.memory.buffer);
    return [view.getBigInt64(result, true), view.getBigInt64(result + 8, true)];
  }

  /** Nothing but the page is made until the next `reset`. */
  beginPage(): void {
    this.first = aligned(this.next);
    this.end = this.first;
  }

  /** What was put since `beginPage`, in the kernel's memory. */
  page(): Uint8Array {
    return new Uint8Array(this.code.memory.buffer, this.first, this.end - this.first);
  }

  put(bytes: Uint8Array): void {
    this.provide(this.end + bytes.length);
    new Uint8Array(this.code.memory.buffer).set(bytes, this.end);
    this.end += bytes.length;
  }

  /** DELTA_BINARY_PACKED. */
  putDelta({ values, count }: Present): void {
    const blocks = Math.floor(count / DELTA_BLOCK) + 1;
    this.provide(this.end + (count + DELTA_BLOCK) * 8 + blocks * 18 + 40);
    this.end += this.code.delta_pack(values, count, this.end);
  }

  /** RLE: of indices of a dictionary. */
  putRuns(values: number, count: number, width: number): void {
    this.provide(this.end + (Math.floor(count / 8) + 2) * (width + 5));
    this.end += this.code.runs_pack(values, count, width, this.end);
  }

  /** Levels in RLE, with their length in bytes before them. */
  putLevels(values: number, count: number, width: number): void {
    const at = this.end;
    this.put(new Uint8Array(LENGTH_BYTES));
    this.putRuns(values, count, width);
    new DataView(this.code.memory.buffer).setUint32(at, this.end - at - LENGTH_BYTES, true);
  }

  /** The codes that are there, in the kernel's memory. */
  codes({ values, count }: Present): Uint32Array {
    return new Uint32Array(this.code.memory.buffer, values, count);
  }

  private copy(values: Float64Array | Uint32Array | Uint8Array, count: number): number {
    const bytes = count * values.BYTES_PER_ELEMENT;
    const address = this.take(bytes);
    const from = new Uint8Array(values.buffer, values.byteOffset, bytes);
    new Uint8Array(this.code.memory.buffer).set(from, address);
    return address;
  }

  private take(bytes: number): number {
    const address = aligned(this.next);
    this.next = address + bytes;
    this.provide(this.next);
    return address;
  }

  private provide(end: number): void {
    const missing = end - this.code.memory.buffer.byteLength;
    if (missing > 0) this.code.memory.grow(Math.ceil(missing / PAGE_BYTES));
  }
}

function aligned(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}
