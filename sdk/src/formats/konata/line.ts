/**
 * Kanata 0004, the log of the Konata viewer: a command per line, columns separated by tabs, time in cycles. This is the grammar, read from the bytes
 * of a line: no string is made of what is not kept.
 */
import { UscopeError } from '../../base/errors.js';
import { TextBytes, Words } from '../text/columns.js';
import { CR, LF } from '../text/lines.js';

export const KANATA_VERSION = '0004';

/** What an `L` says: 0 shown next to the instruction, 1 shown when pointed at, 2 about the present stage. */
export const LabelKind = { PANE: 0, DETAIL: 1, STAGE: 2 } as const;

/** In place of a number of the simulator: it has none. */
export const NO_NUMBER = -1;

export type KanataRecord =
  /** `C=`: the cycle from here on; the first one may be negative. */
  | { readonly kind: 'cycle'; readonly cycle: bigint }
  /** `C`: the number of cycles that pass. */
  | { readonly kind: 'advance'; readonly cycles: bigint }
  /** `I`: an instruction with its number in the file, in the simulator (-1: none), and its thread. */
  | { readonly kind: 'begin'; readonly id: number; readonly gid: bigint; readonly tid: number }
  /** `L`: text may hold `\n`, written as these two characters. Fragments of one kind join. */
  | { readonly kind: 'label'; readonly id: number; readonly type: number; readonly text: string }
  /** `S`: a stage begins. Lane 0 is the pipeline, the others lie over it. */
  | { readonly kind: 'start'; readonly id: number; readonly lane: number; readonly stage: string }
  /** `E`: it ends. May be left out: the next `S` of the lane and the `R` end it too. */
  | { readonly kind: 'end'; readonly id: number; readonly lane: number; readonly stage: string }
  /** `R`. */
  | { readonly kind: 'retire'; readonly id: number; readonly rid: bigint; readonly type: number }
  /** `W`: the consumer waited for the producer; type 0 is a wake-up. */
  | {
      readonly kind: 'dependency';
      readonly consumer: number;
      readonly producer: number;
      readonly type: number;
    }
  /** A line that is not understood. */
  | { readonly kind: 'unknown'; readonly text: string };

/** What goes through a log command by command, without an object for each. */
export interface KanataVisitor {
  /** Whether the caller of `visit` is to come before the next command. */
  readonly isFull: boolean;
  /** False from `cycle` and `begin`: the command contradicts those before, and was not taken. */
  cycle(cycle: number | bigint): boolean;
  /** @throws UscopeError CONVERT_LIMIT beyond the times of a trace */
  advance(cycles: number | bigint): void;
  begin(id: number, gid: number | bigint, tid: number): boolean;
  /** The text is valid during the call. */
  label(id: number, type: number, text: TextBytes): void;
  start(id: number, lane: number, stage: string): void;
  end(id: number, lane: number, stage: string): void;
  retire(id: number, rid: number | bigint, type: number): void;
  dependency(consumer: number, producer: number, type: number): void;
  /** A line that is not understood. */
  unknown?(text: string): void;
}

/** @throws UscopeError CONVERT_UNKNOWN (no Kanata log), CONVERT_UNSUPPORTED (another version) */
export function checkHeader(line: string): void {
  const [, version] = /^\s*Kanata\s+(\S*)/.exec(line) ?? [];
  if (version === KANATA_VERSION) return;
  const place = { offset: 0 };
  if (version === undefined)
    throw new UscopeError(
      'CONVERT_UNKNOWN',
      'a Kanata log begins with "Kanata", a tab and its version',
      place,
    );
  const problem = `Kanata version "${version}"; this release reads ${KANATA_VERSION}`;
  throw new UscopeError('CONVERT_UNSUPPORTED', problem, place);
}

const [TAB, BLANK, SLASH, MINUS, EQUALS, ZERO] = [0x09, 0x20, 0x2f, 0x2d, 0x3d, 0x30];
const [C, E, I, L, R, S, W] = [...'CEILRSW'].map((letter) => letter.charCodeAt(0));
const MAX_U64 = (1n << 64n) - 1n;
const MAX_U32 = 0xffff_ffff;
const MAX_KIND = 0xff;
const MAX_LANE = 0xffff;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** What a line that is not understood has in place of a number. */
const NOT_A_NUMBER = -1;
const MAX_DIGITS = 15;
/** A number of 64 bits, with its sign. */
const MOST_LETTERS = 21;

/** Takes lines from their bytes, which end with a line feed. Blanks around numbers do not count; what follows two slashes is a comment. */
export class KanataLines {
  /** Start of the line after the one that was taken. */
  next = 0;
  /** Of the tab after the column that was read last, or of the end of the line. */
  private at = 0;
  private readonly words = new Words();
  private readonly text = new TextBytes();

  /** Visits the line at `from`; an empty one says nothing. False: it is not understood, and nothing was visited. @throws what the visitor throws */
  take(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    this.at = from;
    const isTaken =
      bytes[from + 1] === TAB ? this.takeCommand(bytes, from, visitor) : this.takeOther(bytes, from, visitor);
    // Columns after those of a command are comments.
    this.next = (bytes[this.at] === LF ? this.at : bytes.indexOf(LF, this.at)) + 1;
    return isTaken;
  }

  private takeCommand(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    const at = from + 2;
    switch (bytes[from]) {
      case S:
        return this.takeStage(bytes, at, visitor, true);
      case E:
        return this.takeStage(bytes, at, visitor, false);
      case L:
        return this.takeLabel(bytes, at, visitor);
      case C:
        return this.takeCycle(bytes, at, visitor, false);
      case I:
        return this.takeBegin(bytes, at, visitor);
      case R:
        return this.takeEnd(bytes, at, visitor);
      case W:
        return this.takeDependency(bytes, at, visitor);
      default:
        return false;
    }
  }

  private takeOther(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    if (bytes[from] === C && bytes[from + 1] === EQUALS && bytes[from + 2] === TAB)
      return this.takeCycle(bytes, from + 3, visitor, true);
    let at = from;
    while (bytes[at] === TAB || bytes[at] === BLANK || bytes[at] === CR) at++;
    return bytes[at] === LF || (bytes[at] === SLASH && bytes[at + 1] === SLASH);
  }

  private takeCycle(bytes: Uint8Array, from: number, visitor: KanataVisitor, isSet: boolean): boolean {
    const cycle = this.wide(bytes, from, isSet ? Number.NEGATIVE_INFINITY : 0);
    if (cycle === null) return false;
    if (isSet) return visitor.cycle(cycle);
    visitor.advance(cycle);
    return true;
  }

  private takeBegin(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    const id = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (id < 0 || bytes[this.at] !== TAB) return false;
    const gid = this.wide(bytes, this.at + 1, NO_NUMBER);
    if (gid === null || bytes[this.at] !== TAB) return false;
    const tid = this.number(bytes, this.at + 1, MAX_U32);
    return tid >= 0 && visitor.begin(id, gid, tid);
  }

  private takeEnd(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    const id = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (id < 0 || bytes[this.at] !== TAB) return false;
    const rid = this.wide(bytes, this.at + 1, NO_NUMBER);
    const type = rid === null ? NOT_A_NUMBER : this.type(bytes);
    if (rid === null || type < 0) return false;
    visitor.retire(id, rid, type);
    return true;
  }

  private takeDependency(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    const consumer = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (consumer < 0 || bytes[this.at] !== TAB) return false;
    const producer = this.number(bytes, this.at + 1, Number.MAX_SAFE_INTEGER);
    const type = producer < 0 ? NOT_A_NUMBER : this.type(bytes);
    if (type < 0) return false;
    visitor.dependency(consumer, producer, type);
    return true;
  }

  private takeStage(bytes: Uint8Array, from: number, visitor: KanataVisitor, isStart: boolean): boolean {
    const id = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (id < 0 || bytes[this.at] !== TAB) return false;
    const lane = this.number(bytes, this.at + 1, MAX_LANE);
    if (lane < 0 || bytes[this.at] !== TAB) return false;
    const stage = this.word(bytes, this.at + 1);
    if (stage === '') return false;
    if (isStart) visitor.start(id, lane, stage);
    else visitor.end(id, lane, stage);
    return true;
  }

  private takeLabel(bytes: Uint8Array, from: number, visitor: KanataVisitor): boolean {
    const id = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (id < 0 || bytes[this.at] !== TAB) return false;
    const kind = this.number(bytes, this.at + 1, MAX_KIND);
    if (kind < 0) return false;
    // A missing text is empty: viewers take that too.
    const start = bytes[this.at] === TAB ? this.at + 1 : this.at;
    this.goOn(bytes, start);
    visitor.label(id, kind, this.text.point(bytes, start, this.at));
    return true;
  }

  private word(bytes: Uint8Array, from: number): string {
    let to = from;
    while (bytes[to] > BLANK) to++;
    this.at = to;
    if (bytes[to] !== TAB && bytes[to] !== LF) this.goOn(bytes, to);
    return (this.at === to ? this.words.at(bytes, from, to) : null) ?? wordOf(bytes, from, this.at);
  }

  /** The last column; an empty one, or none, is 0. */
  private type(bytes: Uint8Array): number {
    const from = bytes[this.at] === TAB ? this.at + 1 : this.at;
    const type = this.number(bytes, from, MAX_U32);
    return type < 0 && isBlank(bytes, from, this.at) ? 0 : type;
  }

  /** From 0 to `most`; else NOT_A_NUMBER. */
  private number(bytes: Uint8Array, from: number, most: number): number {
    let at = from;
    let value = 0;
    for (let digit = bytes[at] - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at] - ZERO)
      value = value * 10 + digit;
    const after = bytes[at];
    if (at > from && at - from <= MAX_DIGITS && (after === TAB || after === LF || after === CR)) {
      this.at = at;
      return value <= most ? value : NOT_A_NUMBER;
    }
    const unusual = this.unusual(bytes, from);
    return unusual !== null && unusual >= 0n && unusual <= most ? Number(unusual) : NOT_A_NUMBER;
  }

  /** From `least` to what has 64 bits; null: no such number. */
  private wide(bytes: Uint8Array, from: number, least: number): number | bigint | null {
    const value = this.number(bytes, from, Number.MAX_SAFE_INTEGER);
    if (value >= 0) return value;
    const unusual = this.unusual(bytes, from);
    if (unusual === null || unusual < least || unusual > MAX_U64) return null;
    return Number.isSafeInteger(Number(unusual)) ? Number(unusual) : unusual;
  }

  /** A number with blanks, a sign, a comment, or of more digits than are quickly exact. */
  private unusual(bytes: Uint8Array, from: number): bigint | null {
    let start = from;
    while (bytes[start] === BLANK) start++;
    let end = bytes[start] === MINUS ? start + 1 : start;
    while (bytes[end] >= ZERO && bytes[end] <= ZERO + 9) end++;
    this.goOn(bytes, end);
    if (end - start > MOST_LETTERS || !isBlank(bytes, end, this.at)) return null;
    const text = String.fromCharCode(...bytes.subarray(start, end));
    return /\d/.test(text) ? BigInt(text) : null;
  }

  /** To the end of the column. */
  private goOn(bytes: Uint8Array, from: number): void {
    let at = from;
    while (bytes[at] !== TAB && bytes[at] !== LF && !(bytes[at] === CR && bytes[at + 1] === LF)) at++;
    this.at = at;
  }
}

/** Nothing but blanks and a comment. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at] === BLANK) at++;
  return at >= to || (bytes[at] === SLASH && bytes[at + 1] === SLASH);
}

/** A word with blanks or control characters in it, or with letters beyond ASCII. */
function wordOf(bytes: Uint8Array, from: number, to: number): string {
  return decoder
    .decode(bytes.subarray(from, to))
    .replace(/(^|\s)\/\/.*$/, '')
    .trim();
}
