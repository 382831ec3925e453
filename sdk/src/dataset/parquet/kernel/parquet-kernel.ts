/**
 * The compiled loops of the Parquet writer (sdk/kernel/parquet) with their memory. One page of one column at a time: `reset`, then what makes its levels and
 * values. Addresses are valid until the next `reset`.
 */
import { decodeBase64 } from '../../../base/base64.js';
import { WASM_BASE64 } from './parquet-wasm.js';

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
  private next: number;

  constructor() {
    const module = new WebAssembly.Module(decodeBase64(WASM_BASE64));
    this.code = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
    this.next = this.code.__heap_base.value;
  }

  reset(): void {
    this.next = this.code.__heap_base.value;
  }

  presentNumbers(values: Float64Array, count: number): Present {
    const [from, present, levels] = [this.copy(values, count), this.take(count * 8), this.take(count * 4)];
    return { values: present, levels, count: this.code.present_numbers(from, count, present, levels) };
  }

  /** @param words two for each value, the lower one first */
  presentWords(words: Uint32Array, missing: Uint8Array, count: number): Present {
    const [from, marks] = [this.copy(words, count * 2), this.copy(missing, count)];
    const [present, levels] = [this.take(count * 8), this.take(count * 4)];
    const there = this.code.present_words(from, marks, count, present, levels);
    return { values: present, levels, count: there };
  }

  /** @param codes negative: missing */
  presentCodes(codes: Int32Array, count: number): Present {
    const [from, present, levels] = [this.copy(codes, count), this.take(count * 4), this.take(count * 4)];
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
    const result = this.take(16);
    this.code.bounds(values, count, result);
    const view = new DataView(this.code.memory.buffer);
    return [view.getBigInt64(result, true), view.getBigInt64(result + 8, true)];
  }

  /** DELTA_BINARY_PACKED. */
  delta({ values, count }: Present): Uint8Array {
    const out = this.take((count + DELTA_BLOCK) * 8 + (Math.floor(count / DELTA_BLOCK) + 1) * 18 + 40);
    return this.bytes(out, this.code.delta_pack(values, count, out));
  }

  /** RLE: of levels, or of indices of a dictionary. */
  runs(values: number, count: number, width: number): Uint8Array {
    const out = this.take((Math.floor(count / 8) + 2) * (width + 5));
    return this.bytes(out, this.code.runs_pack(values, count, width, out));
  }

  /** The codes that are there. */
  codes({ values, count }: Present): Uint32Array {
    return new Uint32Array(this.code.memory.buffer.slice(values, values + count * 4));
  }

  private bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.code.memory.buffer.slice(address, address + count));
  }

  private copy(values: Float64Array | Uint32Array | Int32Array | Uint8Array, count: number): number {
    const bytes = count * values.BYTES_PER_ELEMENT;
    const address = this.take(bytes);
    const from = new Uint8Array(values.buffer, values.byteOffset, bytes);
    new Uint8Array(this.code.memory.buffer).set(from, address);
    return address;
  }

  private take(bytes: number): number {
    const address = Math.ceil(this.next / ALIGNMENT) * ALIGNMENT;
    this.next = address + bytes;
    const missing = this.next - this.code.memory.buffer.byteLength;
    if (missing > 0) this.code.memory.grow(Math.ceil(missing / PAGE_BYTES));
    return address;
  }
}
