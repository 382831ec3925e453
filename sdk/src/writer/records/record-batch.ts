/** Builds records (docs/reference/bridge-protocol.md#records) in a growing buffer: the in-process counterpart of the C client's chunk. */
import {
  EVENT_INLINE_BYTES,
  eventExtraRecords,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
} from '../../format/record.js';
import type { Action } from '../../format/types.js';
import { upperBits } from './field-plan.js';

const INITIAL_WORDS = 64 * 1024;
const FEW_WORDS = 16;

export class RecordBatch {
  words = new Uint32Array(INITIAL_WORDS);
  private bytes = new Uint8Array(this.words.buffer);
  private view = new DataView(this.words.buffer);
  /** Words used. */
  length = 0;

  /** @param timePs as a number a safe integer */
  begin(timePs: number | bigint): void {
    const at = this.take(RECORD_WORDS);
    const { words } = this;
    words[at] = RecordKind.BEGIN;
    words[at + 1] = 0;
    if (typeof timePs === 'number') {
      words[at + 2] = timePs >>> 0;
      words[at + 3] = upperBits(timePs);
    } else {
      words[at + 2] = Number(timePs & 0xffff_ffffn);
      words[at + 3] = Number(timePs >> 32n);
    }
  }

  end(items: number, ordinal: number): void {
    const at = this.take(RECORD_WORDS);
    this.words[at] = RecordKind.END;
    this.words[at + 1] = items;
    this.words[at + 2] = ordinal >>> 0;
    this.words[at + 3] = Math.floor(ordinal / 2 ** 32);
  }

  op(action: Action, storage: number, slot: number, field: number, lo: number, hi: number): void {
    const at = this.take(RECORD_WORDS);
    const { words } = this;
    words[at] = RecordKind.OP | (action << 8) | (storage << 16);
    words[at + 1] = slot | (field << 16);
    words[at + 2] = lo;
    words[at + 3] = hi;
  }

  /** The caller fills the payload that the returned view shows, at the returned offset. */
  event(type: number, size: number): { view: DataView; offset: number } {
    const at = this.take(RECORD_WORDS * (1 + eventExtraRecords(size)));
    this.words[at] = RecordKind.EVENT | (type << 16);
    this.words[at + 1] = size;
    return { view: this.view, offset: at * 4 + RECORD_WORDS * 4 - EVENT_INLINE_BYTES };
  }

  /** One whose payload has at most 8 bytes. */
  shortEvent(type: number, size: number, lo: number, hi: number): void {
    const at = this.take(RECORD_WORDS);
    const { words } = this;
    words[at] = RecordKind.EVENT | (type << 16);
    words[at + 1] = size;
    words[at + 2] = lo;
    words[at + 3] = hi;
  }

  string(index: number, text: Uint8Array): void {
    this.withPayload(RecordKind.STRING, text.length, index >>> 0, Math.floor(index / 2 ** 32), text);
  }

  snapshot(storage: number, data: Uint8Array): void {
    this.withPayload(RecordKind.SNAPSHOT | (storage << 16), data.length, 0, data.length, data);
  }

  clear(): void {
    this.length = 0;
  }

  private withPayload(word0: number, size: number, lo: number, hi: number, payload: Uint8Array): void {
    const at = this.take(RECORD_WORDS * (1 + payloadRecords(size)));
    this.words[at] = word0;
    this.words[at + 1] = size;
    this.words[at + 2] = lo;
    this.words[at + 3] = hi;
    this.bytes.set(payload, (at + RECORD_WORDS) * 4);
  }

  /** Zeroed room for a record; returns its first word. */
  private take(count: number): number {
    const at = this.length;
    if (at + count > this.words.length) {
      const grown = new Uint32Array(Math.max(at + count, this.words.length * 2));
      grown.set(this.words);
      this.words = grown;
      this.bytes = new Uint8Array(grown.buffer);
      this.view = new DataView(grown.buffer);
    }
    const { words } = this;
    // Of few words a loop is faster than the call.
    if (count > FEW_WORDS) words.fill(0, at, at + count);
    else for (let word = at + 2; word < at + count; word++) words[word] = 0;
    this.length = at + count;
    return at;
  }
}
