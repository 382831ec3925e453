/** The strings of a trace that is written, from their bytes: one that is known is found without becoming a string. Memory is bounded: all are forgotten when it is full. */
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import { TextBytes } from '../text/columns.js';
import { longString } from './core-records.js';

const PLACES = 1 << 16;
const MAX_KNOWN = PLACES / 2;
const ARENA_BYTES = 2 * 1024 * 1024;
const NONE = -1;

export class TraceStrings {
  private count = 0;
  /** By place in the table: the number of the known string; -1: none. */
  private readonly table = new Int32Array(PLACES).fill(NONE);
  private known = 0;
  private readonly hashes = new Int32Array(MAX_KNOWN);
  private readonly indices = new Float64Array(MAX_KNOWN);
  /** Where the bytes of each known string begin; they end where the next one's do. */
  private readonly starts = new Int32Array(MAX_KNOWN + 1);
  private readonly arena = new Uint8Array(ARENA_BYTES);
  private readonly word = new TextBytes();

  constructor(private readonly batch: RecordBatch) {}

  ofString(text: string): number {
    return this.of(this.word.set(text));
  }

  /** Number of the string; a new one becomes a record, so it comes before the event that refers to it. @throws UscopeError OP_STRING */
  of({ bytes, from, to }: TextBytes): number {
    const hash = hashOf(bytes, from, to);
    let place = hash & (PLACES - 1);
    for (let entry = this.table[place]; entry !== NONE; entry = this.table[place]) {
      if (this.hashes[entry] === hash && this.isEqual(entry, bytes, from, to)) return this.indices[entry];
      place = (place + 1) & (PLACES - 1);
    }
    return this.add(bytes, from, to, hash);
  }

  private isEqual(entry: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.starts[entry];
    if (this.starts[entry + 1] - start !== to - from) return false;
    for (let i = 0; i < to - from; i++) if (this.arena[start + i] !== bytes[from + i]) return false;
    return true;
  }

  private add(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const size = to - from;
    if (size > MAX_STRING_BYTES) throw longString(size);
    const index = this.count++;
    const text = bytes.subarray(from, to);
    this.batch.string(index, text);
    if (this.known === MAX_KNOWN || this.starts[this.known] + size > ARENA_BYTES) this.forget();
    const entry = this.known++;
    const start = this.starts[entry];
    this.arena.set(text, start);
    this.starts[entry + 1] = start + size;
    this.hashes[entry] = hash;
    this.indices[entry] = index;
    let place = hash & (PLACES - 1);
    while (this.table[place] !== NONE) place = (place + 1) & (PLACES - 1);
    this.table[place] = entry;
    return index;
  }

  private forget(): void {
    this.table.fill(NONE);
    this.known = 0;
  }
}

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at], 0x9e37_79b1) ^ (hash >>> 15);
  return (hash ^ (hash >>> 16)) | 0;
}
