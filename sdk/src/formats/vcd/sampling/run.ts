/** What the recorders of one conversion share: the signals' values, the writer, and the frame of the present clock edge. */

import type { TraceWriter } from '../../../writer/index.js';
import type { FieldValue } from '../../../writer/records/values.js';
import type { ConversionReport, Tally } from '../../common/report.js';
import type { SignalStore } from '../read/signal-store.js';

// Bits of a signal as they were before the clock edge.

/** Values up to 2^53 are numbers and larger ones bigints: equal values are then equal by `===`. */
export type Wide = number | bigint;

const TWO_32 = 4_294_967_296;
/** High words from here on make a value that a number cannot hold exactly. */
const FIRST_INEXACT = 1 << 21;

export function wideOf(lo: number, hi: number): Wide {
  return hi >>> 0 < FIRST_INEXACT
    ? (hi >>> 0) * TWO_32 + (lo >>> 0)
    : (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

/** Up to 64 bits of a signal, from bit `from` of its value on. */
export class Probe {
  private readonly word: number;
  private readonly shift: number;
  private readonly maskLo: number;
  private readonly maskHi: number;
  /** The words that it reaches into. */
  private readonly last: number;

  constructor(
    private readonly store: SignalStore,
    readonly signal: number,
    readonly from: number,
    readonly width: number,
  ) {
    this.word = store.offsets[signal] + (from >>> 5);
    this.shift = from & 31;
    this.maskLo = width >= 32 ? -1 : (1 << width) - 1;
    this.maskHi = width >= 64 ? -1 : width > 32 ? (1 << (width - 32)) - 1 : 0;
    this.last = store.offsets[signal] + ((from + width - 1) >>> 5);
  }

  /** The lower 32 bits, as an unsigned number. */
  low(): number {
    return (this.take(this.store.bits, 0) & this.maskLo) >>> 0;
  }

  high(): number {
    return this.maskHi === 0 ? 0 : (this.take(this.store.bits, 1) & this.maskHi) >>> 0;
  }

  value(): Wide {
    return this.maskHi === 0 ? this.low() : wideOf(this.low(), this.high());
  }

  /** Some bit is x or z. */
  isUnknown(): boolean {
    const { unknown } = this.store;
    return (
      (this.take(unknown, 0) & this.maskLo) !== 0 ||
      (this.maskHi !== 0 && (this.take(unknown, 1) & this.maskHi) !== 0)
    );
  }

  /** A single bit is 1: not 0, x or z. */
  isSet(): boolean {
    return (
      ((this.store.bits[this.word] >>> this.shift) & 1) === 1 &&
      ((this.store.unknown[this.word] >>> this.shift) & 1) === 0
    );
  }

  private take(words: Uint32Array, index: number): number {
    const at = this.word + index;
    const lower = at <= this.last ? words[at] >>> this.shift : 0;
    if (this.shift === 0 || at + 1 > this.last) return lower;
    return lower | (words[at + 1] << (32 - this.shift));
  }
}

/** A part of a signal that is followed. */
export interface FollowedPart {
  /** Index in the store. */
  readonly signal: number;
  readonly from: number;
  readonly width: number;
  readonly kind: 'bits' | 'real' | 'text';
  readonly path: string;
}

/** Records what one entry of the map says. */
export interface Recorder {
  /** The clock rises; all values are those before it. `isReset`: the reset of the scope is active. */
  edge(isReset: boolean): void;
  /** The waveform was switched off, or has ended: what is open ends. */
  gap?(): void;
}

export type RecorderFactory = (run: Run) => Recorder;

export class Run {
  timePs: number | bigint = 0;
  /** Transactions of all channels are numbered together. */
  nextTransaction = 1;
  private isOpen = false;
  private readonly tallies = new Map<string, Tally>();
  readonly unknown: Tally;

  constructor(
    readonly store: SignalStore,
    readonly writer: TraceWriter,
    readonly report: ConversionReport,
  ) {
    this.unknown = report.approximated('values with bits that are x or z', 'those bits are 0');
  }

  probe({ signal, from, width }: FollowedPart): Probe {
    return new Probe(this.store, signal, from, width);
  }

  /** The frame of the edge is open after it. */
  open(): TraceWriter {
    if (!this.isOpen) {
      this.writer.beginCycle(this.timePs);
      this.isOpen = true;
    }
    return this.writer;
  }

  /** The edge is over. False: the disk lags. */
  close(): boolean {
    if (!this.isOpen) return true;
    this.isOpen = false;
    return this.writer.endCycle();
  }

  set(storage: number, slot: number, field: number, value: FieldValue): void {
    this.open().slotSet(storage, slot, field, value);
  }

  kept(what: string, how: string): Tally {
    const key = `${what}\0${how}`;
    let tally = this.tallies.get(key);
    if (!tally) {
      tally = this.report.kept(what, how);
      this.tallies.set(key, tally);
    }
    return tally;
  }

  storage(path: string): number {
    return idOf(this.writer.schema.storages, this.writer, path, 'storageId');
  }

  event(path: string): number {
    return idOf(this.writer.schema.events, this.writer, path, 'eventTypeId');
  }
}

/** Scopes of a map have no scopes in them, so the names of scope and member say it. */
function idOf<K extends string>(
  defs: readonly (Readonly<Record<K, number>> & { readonly name: string; readonly scopeId: number })[],
  { schema }: TraceWriter,
  path: string,
  key: K,
): number {
  const [scope, name] = path.split('/');
  const found = defs.find((def) => def.name === name && schema.scopes[def.scopeId]?.name === scope);
  if (!found) throw new Error(`${path} is not in the schema made for it`);
  return found[key];
}
