/** Values of 64-bit columns in the form that DuckDB's vectors take. */
import type { Bindings } from './duckdb.js';

/** Rows of a vector of DuckDB. */
export const ROWS = 2048;
const WORD = 0x1_0000_0000;

type Vector = ReturnType<Bindings['data_chunk_get_vector']>;

/** Numbers of 64 bits, of which some may be missing. */
export class BigintValues {
  private words: Uint32Array;
  private validity: Uint32Array;
  private hasNulls = false;

  constructor(private capacity: number) {
    this.words = new Uint32Array(capacity * 2);
    this.validity = new Uint32Array(capacity / 32).fill(0xffff_ffff);
  }

  /** @param value a whole number, of at most 53 bits and a sign */
  set(row: number, value: number): void {
    this.words[row * 2] = value;
    this.words[row * 2 + 1] = Math.floor(value / WORD);
  }

  setWords(row: number, lo: number, hi: number): void {
    this.words[row * 2] = lo;
    this.words[row * 2 + 1] = hi;
  }

  setNull(row: number): void {
    this.validity[row >> 5] &= ~(1 << (row & 31));
    this.hasNulls = true;
  }

  /** Room for that number of values; those that are there stay. */
  reserve(count: number): void {
    if (count <= this.capacity) return;
    const { words, validity } = this;
    this.capacity = Math.ceil((count * 2) / 32) * 32;
    this.words = new Uint32Array(this.capacity * 2);
    this.words.set(words);
    this.validity = new Uint32Array(this.capacity / 32).fill(0xffff_ffff);
    this.validity.set(validity);
  }

  /** Hands the first `count` values over, and begins again. */
  copyTo(bindings: Bindings, vector: Vector, count: number): void {
    bindings.copy_data_to_vector(vector, 0, this.words.buffer as ArrayBuffer, 0, count * 8);
    if (!this.hasNulls) return;
    bindings.vector_ensure_validity_writable(vector);
    const bytes = Math.ceil(count / 64) * 8;
    bindings.copy_data_to_vector_validity(vector, 0, this.validity.buffer as ArrayBuffer, 0, bytes);
    this.validity.fill(0xffff_ffff);
    this.hasNulls = false;
  }
}
