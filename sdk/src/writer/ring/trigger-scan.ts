/** Looks for triggers in the stream of records, frame by frame, before the writer takes them: one comparison per record where there is none. */
import {
  EVENT_INLINE_BYTES,
  eventExtraRecords,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
} from '../../format/record.js';

import type { Schema } from '../../format/types.js';

/** What makes an event a trigger. */
export interface EventTrigger {
  readonly eventType: number;
  /** All must hold. */
  readonly tests: readonly FieldTest[];
  /** What the trigger is called: a text, or the payload offset of a string reference. */
  readonly label: string | { readonly stringAt: number };
}

/** A field of the payload that has a value (u64 in halves), or refers to a text. */
export type FieldTest = { readonly offset: number; readonly size: number } & (
  | { readonly lo: number; readonly hi: number }
  | { readonly text: string }
);

/** Says which events of a trace are triggers. @throws UscopeError when what is asked for is not in the schema */
export type TriggerSource = (schema: Schema) => readonly EventTrigger[];

export interface Hit {
  /** Text, or the index of a string of the client. */
  readonly label: string | number;
  readonly timePs: bigint;
}

const WORD = 2 ** 32;

export class TriggerScan {
  /** What the frame that ended at the last stop holds. */
  hits: Hit[] = [];
  /** The last stop is in front of a frame later than the time asked for. */
  isLate = false;

  private readonly byType = new Map<number, EventTrigger[]>();
  /** Text wanted -> indices of the strings that are that text. */
  private readonly texts = new Map<string, Set<number>>();
  private readonly found: Hit[] = [];
  private inFrame = false;
  private timeLo = 0;
  private timeHi = 0;

  /** @param nextFrame frames below this ordinal were seen before */
  constructor(
    triggers: readonly EventTrigger[],
    private nextFrame: number,
  ) {
    for (const trigger of triggers) {
      const same = this.byType.get(trigger.eventType);
      if (same) same.push(trigger);
      else this.byType.set(trigger.eventType, [trigger]);
      for (const test of trigger.tests) if ('text' in test) this.texts.set(test.text, new Set());
    }
  }

  /** Whether any text is to be compared. */
  get wantsStrings(): boolean {
    return this.texts.size > 0;
  }

  /** A string of the client. */
  addString(index: number, text: string): void {
    this.texts.get(text)?.add(index);
  }

  /** The stream starts again; frames below `nextFrame` were seen. */
  restart(nextFrame: number): void {
    this.nextFrame = nextFrame;
    this.inFrame = false;
    this.found.length = 0;
  }

  /**
   * Goes from `words[first]` to the end, or to one of two stops before: after a frame with `hits`, or in front of a frame later than
   * `deadlinePs` (`isLate`). Returns the word it stopped at. Nothing is checked: what is malformed is the writer's matter.
   */
  next(words: Uint32Array, first: number, end: number, deadlinePs: bigint | null): number {
    this.hits = [];
    this.isLate = false;
    const deadlineLo = Number((deadlinePs ?? 0n) & 0xffff_ffffn);
    const deadlineHi = deadlinePs === null ? Number.POSITIVE_INFINITY : Number(deadlinePs >> 32n);
    for (let at = first; at < end; ) {
      const kind = words[at] & 0xff;
      if (kind === RecordKind.OP) at += RECORD_WORDS;
      else if (kind === RecordKind.BEGIN) {
        const hi = words[at + 3];
        if (hi > deadlineHi || (hi === deadlineHi && words[at + 2] > deadlineLo)) {
          this.isLate = true;
          return at;
        }
        this.begin(words[at + 2], words[at + 3]);
        at += RECORD_WORDS;
      } else if (kind === RecordKind.EVENT) {
        if (this.inFrame) this.event(words, at, end);
        at += RECORD_WORDS * (1 + eventExtraRecords(words[at + 1]));
      } else if (kind === RecordKind.END) {
        this.end(words[at + 2] + words[at + 3] * WORD);
        at += RECORD_WORDS;
        if (this.hits.length > 0) return at;
      } else if (kind === RecordKind.STRING) {
        if (this.wantsStrings) this.string(words, at, end);
        at += RECORD_WORDS * (1 + payloadRecords(words[at + 1]));
      } else if (kind === RecordKind.SNAPSHOT) at += RECORD_WORDS * (1 + payloadRecords(words[at + 1]));
      else return end;
    }
    return end;
  }

  private begin(lo: number, hi: number): void {
    this.inFrame = true;
    this.timeLo = lo;
    this.timeHi = hi;
    this.found.length = 0;
  }

  private end(ordinal: number): void {
    if (!this.inFrame) return;
    this.inFrame = false;
    if (ordinal < this.nextFrame) return;
    this.nextFrame = ordinal + 1;
    if (this.found.length > 0) this.hits = this.found.splice(0);
  }

  private event(words: Uint32Array, at: number, end: number): void {
    const triggers = this.byType.get(words[at] >>> 16);
    // Several in one frame are one: their files would be the same.
    if (!triggers || this.found.length > 0) return;
    const size = words[at + 1];
    if (size > EVENT_INLINE_BYTES && at + RECORD_WORDS * (1 + eventExtraRecords(size)) > end) return;
    const payload = new DataView(
      words.buffer,
      words.byteOffset + (at + 2) * 4,
      Math.min(size, (end - at - 2) * 4),
    );
    for (const { tests, label } of triggers) {
      if (!tests.every((test) => this.holds(payload, test))) continue;
      const timePs = (BigInt(this.timeHi) << 32n) | BigInt(this.timeLo);
      this.found.push({
        label: typeof label === 'string' ? label : payload.getUint32(label.stringAt, true),
        timePs,
      });
      return;
    }
  }

  private holds(payload: DataView, test: FieldTest): boolean {
    const { offset, size } = test;
    if (offset + size > payload.byteLength) return false;
    const lo =
      size === 1
        ? payload.getUint8(offset)
        : size === 2
          ? payload.getUint16(offset, true)
          : payload.getUint32(offset, true);
    const hi = size === 8 ? payload.getUint32(offset + 4, true) : 0;
    return 'text' in test ? this.texts.get(test.text)!.has(lo) : lo === test.lo && hi === test.hi;
  }

  private string(words: Uint32Array, at: number, end: number): void {
    const length = words[at + 1];
    if (at + RECORD_WORDS * (1 + payloadRecords(length)) > end) return;
    const bytes = new Uint8Array(words.buffer as ArrayBuffer, words.byteOffset + (at + 4) * 4, length);
    // A copy: text cannot be decoded from shared memory.
    this.addString(words[at + 2] + words[at + 3] * WORD, new TextDecoder().decode(bytes.slice()));
  }
}
