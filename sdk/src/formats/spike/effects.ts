/** What a commit line says after the instruction: registers, CSRs, memory, the vector configuration. */
import type { RetiredSink } from '../retired/sink.js';
import { HexColumn, NumberColumn } from '../text/columns.js';
import { TextBytes } from '../text/text-bytes.js';

const BLANK = 0x20;
const UNDERSCORE = 0x5f;
const NOTE = /^(v\d+\s+0x[0-9a-f]+|e\d+ m\S+ l\d+)(?=\s|$)/;
/** Where effects may end at the latest: a vector register of 65,536 bits has 16,384 digits. */
const NOTE_BYTES = 20_000;
const Letter = { c: 0x63, e: 0x65, f: 0x66, m: 0x6d, v: 0x76, x: 0x78 } as const;

export class CommitEffects {
  private readonly number = new NumberColumn();
  private readonly value = new HexColumn();
  private readonly stored = new HexColumn();
  private readonly text = new TextBytes();

  constructor(private readonly sink: RetiredSink) {}

  /** False: something is not understood; what came before it was given. */
  take(bytes: Uint8Array, from: number, to: number): boolean {
    let at = blanks(bytes, from, to);
    while (at < to) {
      const next = this.one(bytes, at, to);
      if (next < 0 || (next < to && bytes[next] !== BLANK)) return false;
      at = blanks(bytes, next, to);
    }
    return true;
  }

  /** Where it ends; -1: it is not understood. */
  private one(bytes: Uint8Array, at: number, to: number): number {
    switch (bytes[at]) {
      case Letter.x:
        return this.register(false, bytes, at + 1, to);
      case Letter.f:
        return this.register(true, bytes, at + 1, to);
      case Letter.m:
        return this.memory(bytes, at, to);
      case Letter.c:
        return this.csr(bytes, at + 1, to);
      case Letter.v:
      case Letter.e:
        return this.note(bytes, at, to);
      default:
        return -1;
    }
  }

  /** `x5  0x…`, `x 5 0x…`, `x05 0x…`. */
  private register(isFloat: boolean, bytes: Uint8Array, from: number, to: number): number {
    const { number, value } = this;
    if (!number.take(bytes, blanks(bytes, from, to)) || number.value > 31) return -1;
    if (!value.takePrefixed(bytes, blanks(bytes, number.at, to))) return -1;
    this.sink.register(isFloat, number.value, value.low, value.high);
    return value.at;
  }

  /** `mem ADDRESS` is a load, `mem ADDRESS VALUE` a store as wide as the digits. */
  private memory(bytes: Uint8Array, from: number, to: number): number {
    const { value, stored } = this;
    if (bytes[from + 1] !== Letter.e || bytes[from + 2] !== Letter.m || bytes[from + 3] !== BLANK) return -1;
    if (!value.takePrefixed(bytes, from + 4)) return -1;
    if (value.at >= to || !stored.takePrefixed(bytes, value.at + 1)) {
      this.sink.load(value.low, value.high);
      return value.at;
    }
    const size = Math.min(8, (stored.digits + 1) >> 1);
    this.sink.store(value.low, value.high, size, stored.low, stored.high);
    return stored.at;
  }

  /** `c773_mtvec 0x…`. */
  private csr(bytes: Uint8Array, from: number, to: number): number {
    const { number, value, text } = this;
    if (!number.take(bytes, from) || bytes[number.at] !== UNDERSCORE) return -1;
    let at = number.at + 1;
    while (at < to && bytes[at] !== BLANK) at++;
    text.point(bytes, number.at + 1, at);
    if (text.from === at || !value.takePrefixed(bytes, blanks(bytes, at, to))) return -1;
    this.sink.csr(number.value & 0xfff, text, value.low, value.high);
    return value.at;
  }

  /** `v2 0x…`, `e8 m1 l16`. */
  private note(bytes: Uint8Array, from: number, to: number): number {
    const found = NOTE.exec(String(this.text.point(bytes, from, Math.min(to, from + NOTE_BYTES))));
    if (!found) return -1;
    this.sink.note(found[1].replace(/\s+/g, ' '));
    return from + found[1].length;
  }
}

function blanks(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] === BLANK) at++;
  return at;
}
