/**
 * Values of the signals that are followed, twice: as they were before the time step that is being read, and as they are in it. What is sampled
 * at a clock edge is the former, whatever the order of the changes within the step.
 */
import { isCut } from '../../common/cut.js';
import { CodeTable, NOT_FOLLOWED } from './codes.js';
import { isReal, isText, type VcdHeader, type VcdSignal } from './header.js';

/** Called when a signal has another value than before. */
export type Touch = () => void;

/** A bit of a vector that the waveform has bit by bit. */
export interface BitPlace {
  readonly vector: number;
  readonly bit: number;
}

export class SignalStore {
  /** Bits of each signal; 0 for one whose values are reals or texts. */
  readonly widths: Int32Array;
  /** 1 for a bit of a vector that the waveform has bit by bit. */
  readonly isPart: Uint8Array;
  /** 1 for other signals of one bit: their changes need nothing else. */
  readonly isSingle: Uint8Array;
  /** Index of each signal's first word. */
  readonly offsets: Int32Array;
  /** Bits, and which of them are x or z, before the step. An unknown bit has the value 0. */
  readonly bits: Uint32Array;
  readonly unknown: Uint32Array;
  readonly nextBits: Uint32Array;
  readonly nextUnknown: Uint32Array;
  /** Values of reals and texts. On a signal of bits: the last change if that was a text or a real, otherwise ''. */
  readonly others: (number | string)[];
  readonly nextOthers: (number | string)[];
  readonly dirty: Int32Array;
  readonly isDirty: Uint8Array;
  dirtyCount = 0;
  private readonly touches: (Touch[] | undefined)[];

  /** @param places of a bit in vectors that the waveform has bit by bit, by signal */
  constructor(
    widths: readonly number[],
    readonly places: ReadonlyMap<number, readonly BitPlace[]> = new Map(),
  ) {
    this.widths = Int32Array.from(widths);
    this.isPart = Uint8Array.from(widths, (_, signal) => Number(places.has(signal)));
    this.isSingle = Uint8Array.from(widths, (width, signal) => Number(width === 1 && !places.has(signal)));
    this.offsets = new Int32Array(widths.length);
    let words = 0;
    widths.forEach((width, signal) => {
      this.offsets[signal] = words;
      words += Math.max(1, (width + 31) >>> 5);
    });
    this.bits = new Uint32Array(words);
    this.unknown = new Uint32Array(words).fill(0xffff_ffff);
    this.nextBits = new Uint32Array(words);
    this.nextUnknown = this.unknown.slice();
    this.others = new Array<number | string>(widths.length).fill('');
    this.nextOthers = [...this.others];
    this.dirty = new Int32Array(widths.length);
    this.isDirty = new Uint8Array(widths.length);
    this.touches = new Array(widths.length).fill(undefined);
  }

  onChange(signal: number, touch: Touch): void {
    const list = this.touches[signal];
    if (list) list.push(touch);
    else this.touches[signal] = [touch];
  }

  mark(signal: number): void {
    if (this.isDirty[signal] === 1) return;
    this.isDirty[signal] = 1;
    this.dirty[this.dirtyCount++] = signal;
  }

  /** A bit changes the vectors that it is a part of. */
  spread(signal: number): void {
    const from = this.offsets[signal];
    const { nextBits, nextUnknown } = this;
    for (const { vector, bit } of this.places.get(signal) ?? []) {
      const word = this.offsets[vector] + (bit >>> 5);
      const mask = 1 << (bit & 31);
      nextBits[word] = (nextBits[word] & ~mask) | (nextBits[from] & 1 ? mask : 0);
      nextUnknown[word] = (nextUnknown[word] & ~mask) | (nextUnknown[from] & 1 ? mask : 0);
      this.mark(vector);
    }
  }

  /** The step is over: its values are those before the next one. */
  settle(): void {
    const { dirty, isDirty, dirtyCount, offsets, widths } = this;
    for (let i = 0; i < dirtyCount; i++) {
      const signal = dirty[i];
      isDirty[signal] = 0;
      const first = offsets[signal];
      const end = first + Math.max(1, (widths[signal] + 31) >>> 5);
      for (let word = first; word < end; word++) {
        this.bits[word] = this.nextBits[word];
        this.unknown[word] = this.nextUnknown[word];
      }
      if (this.others[signal] !== this.nextOthers[signal]) this.others[signal] = this.nextOthers[signal];
      const touches = this.touches[signal];
      if (touches) for (const touch of touches) touch();
    }
    this.dirtyCount = 0;
  }
}

// What a pass over the changes of a waveform begins with: which signals are followed, and the bytes in pieces.

/** Codes of a header and what each is to a reader that follows `followed`. */
export function codeTable(header: VcdHeader, followed: readonly VcdSignal[]): CodeTable {
  const indices = new Map(withBits(followed).map(({ code }, index) => [code, index]));
  return new CodeTable(header.signals.map(({ code }) => [code, indices.get(code) ?? NOT_FOLLOWED]));
}

export function storeFor(followed: readonly VcdSignal[]): SignalStore {
  const signals = withBits(followed);
  const indices = new Map(signals.map(({ code }, index) => [code, index]));
  const places = new Map<number, BitPlace[]>();
  followed.forEach(({ bits = [] }, vector) => {
    bits.forEach(({ code }, bit) => {
      const signal = indices.get(code) as number;
      const known = places.get(signal);
      if (known) known.push({ vector, bit });
      else places.set(signal, [{ vector, bit }]);
    });
  });
  return new SignalStore(
    signals.map((signal) => (isReal(signal) || isText(signal) ? 0 : signal.width)),
    places,
  );
}

/** After the signals that are followed: the bits of those that the waveform has bit by bit. */
function withBits(followed: readonly VcdSignal[]): readonly VcdSignal[] {
  const codes = new Set(followed.map(({ code }) => code));
  const more = new Map<number, VcdSignal>();
  for (const { bits = [] } of followed)
    for (const bit of bits) if (!codes.has(bit.code)) more.set(bit.code, bit);
  return more.size === 0 ? followed : [...followed, ...more.values()];
}

/** The bytes, null at the end, or why packed bytes end early. */
export async function nextPiece(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array | string | null> {
  try {
    const { value, done } = await pieces.next();
    return done ? null : value;
  } catch (error) {
    if (isCut(error)) return error.message;
    throw error;
  }
}
