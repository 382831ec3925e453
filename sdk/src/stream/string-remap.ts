/**
 * Strings on their way from one or more traces into another one: only those referred to are taken along, numbered in the order of their first
 * use. Memory is bounded: what has been forgotten is written again under a new number, which changes no text.
 */
import { MAX_STRING_BYTES } from '../format/record.js';
import type { LoadedSegment, Trace } from '../reader/index.js';
import type { StorageState } from '../state/storage-state.js';
import type { RecordBatch } from '../writer/records/record-batch.js';
import { StringCache } from '../writer/records/string-cache.js';
import { StringRefs } from './string-refs.js';

/** A reference that names no string, now and in the file written. */
const NO_STRING = 0xffff_ffff;
const MAX_KNOWN = 1 << 19;

/** The strings of the trace being written. */
export class StringOutput {
  /** Number of strings so far. */
  count = 0;
  /** Strings cut because the writer stores no longer ones. */
  shortened = 0;
  private readonly cache = new StringCache();
  private readonly encoder = new TextEncoder();

  constructor(private readonly batch: RecordBatch) {}

  add(text: string): number {
    const known = this.cache.get(text);
    if (known !== undefined) return known;
    const index = this.count++;
    this.batch.string(index, this.encode(text));
    this.cache.set(text, index);
    return index;
  }

  private encode(text: string): Uint8Array {
    const bytes = this.encoder.encode(text);
    if (bytes.length <= MAX_STRING_BYTES) return bytes;
    this.shortened++;
    let end = MAX_STRING_BYTES;
    while ((bytes[end] & 0xc0) === 0x80) end--; // not inside a character
    return bytes.subarray(0, end);
  }
}

/** From the string numbers of one input to those of the output. */
export class StringRemap {
  readonly refs: StringRefs;
  /** References that name no string of the input. */
  unresolved = 0;
  private readonly known = new Map<number, number>();

  constructor(
    private readonly trace: Trace,
    private readonly output: StringOutput,
    /** What becomes of a text; null: it stays. The cells of a state that hold 0 then name the empty text. */
    private readonly edit: ((text: string) => string) | null = null,
  ) {
    this.refs = new StringRefs(trace.schema);
  }

  /** Brings the strings of a segment into memory; `map` answers for them until the next call. */
  async prepare(segment: LoadedSegment): Promise<void> {
    if (!this.refs.any) return;
    const wanted = new Set<number>();
    this.refs.collect(segment, wanted);
    await this.load(wanted);
  }

  private async load(wanted: Set<number>): Promise<void> {
    if (this.known.size > MAX_KNOWN) this.known.clear();
    for (const index of wanted) if (this.known.has(index)) wanted.delete(index);
    await this.trace.strings.load(wanted);
  }

  /** The output's number of string `index`. A reference that names nothing continues naming nothing. */
  map(index: number): number {
    const known = this.known.get(index);
    if (known !== undefined) return known;
    const text = this.trace.strings.peek(index);
    if (text === undefined) {
      this.unresolved++;
      return NO_STRING;
    }
    const mapped = this.output.add(this.edit ? this.edit(text) : text);
    this.known.set(index, mapped);
    return mapped;
  }

  /** The output's number of the empty text. */
  empty(): number {
    return this.output.add('');
  }

  /** Renumbers the references of a state in place; where there is no string 0, what holds 0 was never set and stays so. */
  async mapState(state: StorageState): Promise<void> {
    if (!this.refs.inStorages) return;
    const wanted = new Set<number>();
    this.refs.forEachInState(state, (word) => wanted.add(state.cells[word]));
    await this.load(wanted);
    this.refs.forEachInState(state, (word) => {
      const index = state.cells[word];
      if (index !== 0 || (this.edit === null && this.exists(0))) state.cells[word] = this.map(index);
    });
  }

  /** Of strings just loaded. */
  private exists(index: number): boolean {
    return this.known.has(index) || this.trace.strings.peek(index) !== undefined;
  }

  /** Makes string 0 of the input string 0 of the output, so that fields never set, which hold 0, keep their text. */
  async keepZero(): Promise<void> {
    if (!this.refs.inStorages) return;
    // The text may be of something that is left out.
    if (this.edit) {
      this.empty();
      return;
    }
    await this.load(new Set([0]));
    if (this.exists(0)) this.map(0);
  }
}
