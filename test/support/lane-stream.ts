/** A stream of records twice: folded into lane records (docs/reference/bridge-protocol.md#lane-records), and as the plain records that these represent. */
import { RECORD_BYTES, RecordKind } from '../../sdk/src/format/record.js';
import { Action } from '../../sdk/src/format/types.js';

export const COUNTERS = 64;
/** Of storage 0; storage 1 + i is counter i. */
export const SLOTS = 16;

export const LANE_SCHEMA = `uscope: 1
clocks: {clk: 1000 ps}
storages:
  regs: {slots: ${SLOTS}, kind: dense, fields: {value: u64, tag: u8}}
${Array.from({ length: COUNTERS }, (_, i) => `  c${i}: {slots: 1, kind: dense, fields: {count: u64}}`).join('\n')}
events:
  stage: {entity: u8, stage: u8}
  wide: {a: u64, b: u64, c: u8}
  note: {text: string}
`;

/** Where a record begins: in which frame, or before which one. */
export interface Mark {
  /** The same for a lane record and the plain records that it represents. */
  readonly step: number;
  /** Byte in the stream. */
  readonly at: number;
  readonly frame: number;
  readonly continues: boolean;
}

/** Records of one form. */
class Form {
  readonly words: number[] = [];
  readonly marks: Mark[] = [];
  items = 0;

  put(place: Omit<Mark, 'at'>, ...words: number[]): void {
    this.marks.push({ at: this.words.length * 4, ...place });
    this.words.push(...words);
  }

  get bytes(): Uint8Array {
    return new Uint8Array(Uint32Array.from(this.words).buffer);
  }
}

export class LaneStream {
  readonly folded = new Form();
  readonly plain = new Form();
  /** Complete frames. */
  frames = 0;
  strings = 0;
  private inFrame = false;
  private steps = 0;

  private get place(): Omit<Mark, 'at'> {
    return { step: this.steps, frame: this.frames, continues: this.inFrame };
  }

  begin(timePs: number): void {
    this.both(RecordKind.BEGIN, 0, timePs >>> 0, Math.floor(timePs / 2 ** 32));
    this.inFrame = true;
    this.folded.items = this.plain.items = 0;
  }

  end(): void {
    for (const form of [this.folded, this.plain])
      form.put(this.place, RecordKind.END, form.items, this.frames, 0);
    this.steps++;
    this.inFrame = false;
    this.frames++;
  }

  string(length: number): void {
    const payload = new Array<number>(Math.ceil(length / RECORD_BYTES) * 4).fill(0x61616161);
    this.both(RecordKind.STRING, length, this.strings++, 0, ...payload);
  }

  op(action: Action, storage: number, slot: number, field: number, lo: number, hi = 0): void {
    this.item(this.folded, ...opWords(action, storage, slot, field, lo, hi));
    this.item(this.plain, ...opWords(action, storage, slot, field, lo, hi));
    this.steps++;
  }

  /** Of type `wide`, of 17 bytes. */
  wideEvent(a: number): void {
    for (const form of [this.folded, this.plain])
      this.item(form, RecordKind.EVENT | (1 << 16), 17, a, 1, 2, 3, 4, 0);
    this.steps++;
  }

  /** To field 0 of the counters from `first` on. */
  addLanes(first: number, lanes: bigint): void {
    const [lo, hi] = [Number(lanes & 0xffff_ffffn), Number(lanes >> 32n)];
    this.item(this.folded, RecordKind.ADD_LANES | (first << 16), 0, lo, hi);
    for (const lane of lanesOf(lanes))
      this.item(this.plain, ...opWords(Action.ADD, first + lane, 0, 0, 1, 0));
    this.steps++;
  }

  setLanes(lanes: number, storage: number, slot: number, field: number, values: readonly number[]): void {
    const ids = RecordKind.SET_LANES | (lanes << 8) | (storage << 16);
    this.item(this.folded, ids, slot | (field << 16), ...wordsOf(values));
    for (const lane of lanesOf(BigInt(lanes)))
      this.item(this.plain, ...opWords(Action.SET, storage, slot + lane, field, values[lane], 0));
    this.steps++;
  }

  eventLanes(lanes: number, type: number, size: number, shift: number, values: readonly number[]): void {
    const ids = RecordKind.EVENT_LANES | (lanes << 8) | (type << 16);
    this.item(this.folded, ids, size | (shift << 8), ...wordsOf(values));
    for (const lane of lanesOf(BigInt(lanes))) {
      const value = BigInt.asUintN(8 * size, BigInt(values[lane]) | (BigInt(lane) << BigInt(shift)));
      const [lo, hi] = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
      this.item(this.plain, RecordKind.EVENT | (type << 16), size, lo, hi);
    }
    this.steps++;
  }

  private item(form: Form, ...words: number[]): void {
    form.put(this.place, ...words);
    form.items++;
  }

  private both(...words: number[]): void {
    for (const form of [this.folded, this.plain]) form.put(this.place, ...words);
    this.steps++;
  }
}

const opWords = (action: Action, storage: number, slot: number, field: number, lo: number, hi: number) => [
  RecordKind.OP | (action << 8) | (storage << 16),
  slot | (field << 16),
  lo,
  hi,
];

function lanesOf(lanes: bigint): number[] {
  return Array.from({ length: 64 }, (_, lane) => lane).filter((lane) => (lanes >> BigInt(lane)) & 1n);
}

const wordsOf = (values: readonly number[]): number[] => [...new Uint32Array(Uint8Array.from(values).buffer)];
