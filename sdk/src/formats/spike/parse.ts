/** Lines of Spike's log (`spike -l --log-commits`), in whichever of its forms: instructions, commits, exceptions. */

import type { ConversionContext, FormatOption } from '../common/foreign-format.js';
import { choice } from '../common/options.js';
import type { RetiredParser } from '../retired/log.js';
import {
  type Interrupt,
  join64,
  MAX_HART,
  type RetiredSink,
  type Says,
  UNKNOWN,
  UnknownCode,
} from '../retired/sink.js';
import { HexColumn, NumberColumn, startsWith, TextBytes } from '../text/columns.js';
import { CR, LF, UnknownLines } from '../text/lines.js';

const BLANK = 0x20;
const COLON = 0x3a;
const OPEN = 0x28;
const CLOSE = 0x29;
const ZERO = 0x30;
const LETTER_X = 0x78;
const EXCEPTION = /^exception (.+?), epc 0x([0-9a-f]{1,16})\s*$/;
const INTERRUPT = /^interrupt #(\d{1,18})$/;
const EXECUTED = /^Executed ([0-9a-f]{1,16}) times$/;
const VALUE = /^\s+tval 0x([0-9a-f]{1,16})\s*$/;
const XLEN_64_DIGITS = 16;
/** Of one instruction: a log of some bytes does not become a trace of any size. */
const MOST_REPEATS = 10_000_000;

/** What a hart waits for. */
class Hart {
  /** An instruction whose commit, or exception, or tval has not come yet. */
  isWaiting = false;
  /** Of a trap that waits for its tval. */
  cause: bigint | null = null;
  value = 0n;
  epc = 0n;
  /** The last instruction that a disassembly line listed. */
  pcLow = 0;
  pcHigh = 0;
  bits = UNKNOWN;
  text: string | null = null;
  interrupt: Interrupt | null = null;
  /** How often that one has been given. */
  given = 0;
  hasCommits = false;

  constructor(readonly number: number) {}
}

export class SpikeParser implements RetiredParser {
  foreign = 0;
  understood = 0;
  xlen: 32 | 64 = 32;
  repeats = 0;
  leftOut = 0;
  isStale = false;
  readonly missing = null;
  readonly unknown = new UnknownLines();
  private hasCommits = false;
  private repeated = 0;
  /** A count was met that both bases can read. */
  private hasAmbiguous = false;
  private readonly harts = new Map<number, Hart>();
  /** The hart of the last line that names one: commit lines of old versions do not. */
  private hart = new Hart(0);
  private readonly number = new NumberColumn();
  private readonly pc = new HexColumn();
  private readonly code = new HexColumn();
  private readonly codes = new UnknownCode();
  private readonly text = new TextBytes();
  private readonly effects: CommitEffects;

  constructor(
    private readonly sink: RetiredSink,
    private readonly base: CountBase,
  ) {
    this.harts.set(0, this.hart);
    this.effects = new CommitEffects(sink);
  }

  get says(): Says {
    return { registers: this.hasCommits, memory: this.hasCommits };
  }

  take(bytes: Uint8Array, at: number, end: number, offset: number): number {
    const after = bytes.indexOf(LF, at) + 1 || end;
    let to = after - 1;
    if (to > at && bytes[to - 1] === CR) to--;
    const from = at + promptOf(bytes, at);
    const rest = this.afterHart(bytes, from);
    // Versions before 2020 name no hart in commit lines.
    const isOld = rest < 0 && isCommit(bytes, from);
    if (rest < 0 && !isOld) this.other(bytes, at, from, to, offset);
    else if (isOld ? this.commit(bytes, from, to) : this.line(bytes, rest, to)) this.understood++;
    else this.unknown.note(bytes, at, to, offset + at);
    return after;
  }

  end(): void {
    for (const hart of this.harts.values()) this.flush(hart);
  }

  repeat(times: number): void {
    const { hart, sink } = this;
    const count = Math.min(times, this.repeats);
    for (let i = 0; i < count; i++)
      sink.begin(hart.number, hart.pcLow, hart.pcHigh, hart.bits, hart.text, UNKNOWN);
    this.repeats -= count;
    this.repeated += count;
  }

  tell({ report }: ConversionContext): void {
    const base = this.base.isHexadecimal ? 'hexadecimal' : 'decimal';
    const tally = report.approximated('repeats of an instruction', `of "Executed N times", read as ${base}`);
    tally.count += this.repeated;
  }

  /** Where the line continues after `core N:`; -1: it does not begin so. */
  private afterHart(bytes: Uint8Array, from: number): number {
    if (!startsWith(bytes, from, 'core ')) return -1;
    let at = from + 5;
    while (bytes[at] === BLANK) at++;
    const { number } = this;
    if (!number.take(bytes, at) || bytes[number.at] !== COLON || number.value > MAX_HART) return -1;
    if (number.value !== this.hart.number) {
      this.hart = this.harts.get(number.value) ?? new Hart(number.value);
      this.harts.set(number.value, this.hart);
    }
    return number.at + 1;
  }

  /** False: it is not understood. */
  private line(bytes: Uint8Array, from: number, to: number): boolean {
    if (bytes[from] !== BLANK) return false;
    const at = from + 1;
    if (bytes[at] === ZERO && bytes[at + 1] === LETTER_X) return this.instruction(bytes, at, to);
    if (isCommit(bytes, at)) return this.commit(bytes, at, to);
    if (startsWith(bytes, at, '>>>>')) {
      this.foreign++;
      return true;
    }
    return this.rare(String(this.text.point(bytes, at, to)));
  }

  private instruction(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.address(bytes, from)) return false;
    const { hart, pc } = this;
    this.flush(hart);
    hart.isWaiting = true;
    hart.pcLow = pc.low;
    hart.pcHigh = pc.high;
    hart.bits = codeOf(this.code.low);
    hart.text = this.codes.has(hart.bits, this.xlen)
      ? String(this.text.point(bytes, this.code.at + 1, to)).trim()
      : null;
    hart.given = 0;
    return true;
  }

  private commit(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.address(bytes, from + 2)) return false;
    const { hart, pc, sink } = this;
    // With `-l` the instruction itself came on the line before.
    const isListed = hart.pcLow === pc.low && hart.pcHigh === pc.high;
    if (!hart.isWaiting || !isListed || hart.cause !== null) this.flush(hart);
    else hart.given++;
    hart.isWaiting = false;
    hart.hasCommits = true;
    this.hasCommits = true;
    const text = isListed ? hart.text : null;
    sink.begin(hart.number, pc.low, pc.high, codeOf(this.code.low), text, bytes[from] - ZERO);
    this.interrupted(hart);
    return this.effects.take(bytes, this.code.at + 1, to);
  }

  /** `0xPC (0xCODE)`. */
  private address(bytes: Uint8Array, from: number): boolean {
    const { pc, code } = this;
    if (!pc.takePrefixed(bytes, from) || pc.digits < 8 || pc.digits > XLEN_64_DIGITS) return false;
    if (bytes[pc.at] !== BLANK || bytes[pc.at + 1] !== OPEN) return false;
    if (!code.takePrefixed(bytes, pc.at + 2) || bytes[code.at] !== CLOSE) return false;
    if (pc.digits === XLEN_64_DIGITS) this.xlen = 64;
    return true;
  }

  private rare(text: string): boolean {
    const value = VALUE.exec(text);
    if (value) return this.trapValue(BigInt(`0x${value[1]}`));
    const executed = EXECUTED.exec(text);
    if (executed) return this.executed(executed[1]);
    const exception = EXCEPTION.exec(text);
    return exception !== null && this.exception(exception[1], BigInt(`0x${exception[2]}`));
  }

  private trapValue(value: bigint): boolean {
    const { hart } = this;
    if (hart.cause === null) return false;
    hart.value = value;
    return true;
  }

  private exception(name: string, epc: bigint): boolean {
    const { hart } = this;
    const interrupt = INTERRUPT.exec(name);
    const cause = causeOf(name);
    if (!interrupt && cause === null) return false;
    if (interrupt) {
      this.flush(hart);
      hart.interrupt = { cause: BigInt(interrupt[1]), epc };
      return true;
    }
    // A loop that traps on itself is listed once. A fetch that failed has no line of its instruction.
    if (hart.cause !== null || !isAt(hart, epc)) this.flush(hart);
    hart.isWaiting = true;
    hart.cause = cause;
    hart.epc = epc;
    hart.value = 0n;
    return true;
  }

  /** Of the last instruction that was listed, which counts too. With commits each of them has its line. */
  private executed(digits: string): boolean {
    const { hart, base } = this;
    this.flush(hart);
    if (/[a-f]/.test(digits) && !base.isHexadecimal) {
      if (base.isGiven) return false;
      base.isHexadecimal = true;
      this.isStale = this.hasAmbiguous;
    }
    this.hasAmbiguous ||= digits.length > 1;
    const count = Number.parseInt(digits, base.isHexadecimal ? 16 : 10);
    const repeats = hart.hasCommits || hart.given === 0 ? 0 : Math.max(0, count - hart.given);
    this.repeats = Math.min(repeats, MOST_REPEATS);
    this.leftOut += repeats - this.repeats;
    hart.given += repeats;
    return true;
  }

  /** What waits is complete: it trapped, or the log has no commits (`-l` alone). */
  private flush(hart: Hart): void {
    if (!hart.isWaiting) return;
    const { number, pcLow, pcHigh, bits, text, cause } = hart;
    hart.isWaiting = false;
    hart.cause = null;
    if (cause === null || isAt(hart, hart.epc)) hart.given++;
    if (cause === null) this.sink.begin(number, pcLow, pcHigh, bits, text, UNKNOWN);
    else this.giveTrap(hart, cause);
    this.interrupted(hart);
  }

  private giveTrap(hart: Hart, cause: bigint): void {
    const { number, epc, value } = hart;
    const [low, high] = [Number(epc & 0xffff_ffffn), Number(epc >> 32n)];
    if (isAt(hart, epc)) this.sink.trap(number, low, high, hart.bits, hart.text, cause, value);
    else this.sink.trap(number, low, high, UNKNOWN, null, cause, value);
  }

  private interrupted(hart: Hart): void {
    if (!hart.interrupt) return;
    this.sink.interrupt(hart.interrupt);
    hart.interrupt = null;
  }

  /** A line that names no hart. */
  private other(bytes: Uint8Array, at: number, from: number, to: number, offset: number): void {
    if (/^(core +\d|[0-3] 0x[0-9a-f]{8})/.test(String(this.text.point(bytes, from, Math.min(to, from + 40)))))
      this.unknown.note(bytes, at, to, offset + at);
    else if (!isBlank(bytes, at, to)) this.foreign++;
  }
}

const isAt = ({ pcLow, pcHigh }: Hart, pc: bigint): boolean => join64(pcLow, pcHigh) === pc;

/** Length of what the interactive mode prints in front. */
function promptOf(bytes: Uint8Array, at: number): number {
  if (bytes[at] === OPEN) return startsWith(bytes, at, '(spike) ') ? 8 : 0;
  return bytes[at] === COLON && bytes[at + 1] === BLANK ? 2 : 0;
}

/** A privilege, then an address. */
function isCommit(bytes: Uint8Array, at: number): boolean {
  const digit = bytes[at] - ZERO;
  if (digit !== 0 && digit !== 1 && digit !== 3) return false;
  return bytes[at + 1] === BLANK && bytes[at + 2] === ZERO && bytes[at + 3] === LETTER_X;
}

/** Of a compressed instruction 16 bits, however many digits the version prints. */
const codeOf = (bits: number): number => ((bits & 3) === 3 ? bits : bits & 0xffff);

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== BLANK && bytes[at] !== 9) return false;
  return true;
}

// Numbers of the exceptions that Spike names (its trap.h).

const NAMES: readonly string[] = [
  'instruction_address_misaligned',
  'instruction_access_fault',
  'illegal_instruction',
  'breakpoint',
  'load_address_misaligned',
  'load_access_fault',
  'store_address_misaligned',
  'store_access_fault',
  'user_ecall',
  'supervisor_ecall',
  'virtual_supervisor_ecall',
  'machine_ecall',
  'instruction_page_fault',
  'load_page_fault',
  '',
  'store_page_fault',
  'double_trap',
  '',
  'software_check',
  'hardware_error',
  'instruction_guest_page_fault',
  'load_guest_page_fault',
  'virtual_instruction',
  'store_guest_page_fault',
];

/** `trap_illegal_instruction`, or what Spike prints of a number that it has no name for: `trap #24`. Null: neither. */
export function causeOf(name: string): bigint | null {
  const known = NAMES.indexOf(name.replace(/^trap_/, ''));
  if (known >= 0) return BigInt(known);
  const [, number] = /#(\d{1,18})$/.exec(name) ?? [];
  return number === undefined ? null : BigInt(number);
}

// What a commit line says after the instruction: registers, CSRs, memory, the vector configuration.

const UNDERSCORE = 0x5f;
const NOTE = /^(v\d+\s+0x[0-9a-f]+|e\d+ m\S+ l\d+)(?=\s|$)/;
/** The latest place at which effects may end: a vector register of 65,536 bits has 16,384 digits. */
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

  /** The place at which it ends; -1: it is not understood. */
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

// `Executed N times`, which Spike prints instead of the lines of a loop on itself: in hexadecimal before about 2020, in decimal later.

export const COUNTS_OPTION: FormatOption = {
  name: 'counts',
  help: 'decimal or hexadecimal: how `Executed N times` counts; default: hexadecimal where a count of the log has a letter',
  direction: 'import',
};

/** What the passes over a log know of its counts. */
export interface CountBase {
  readonly isGiven: boolean;
  isHexadecimal: boolean;
}

/** @throws UscopeError CONVERT_OPTION */
export function countBase(options: ReadonlyMap<string, string>): CountBase {
  const base = choice(options, COUNTS_OPTION.name, ['decimal', 'hexadecimal']);
  return { isGiven: base !== null, isHexadecimal: base === 'hexadecimal' };
}
