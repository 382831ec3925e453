/** Lines of Spike's log (`spike -l --log-commits`), in whichever of its forms: instructions, commits, exceptions. */
import type { ConversionContext } from '../common/foreign-format.js';
import type { RetiredParser } from '../retired/log.js';
import { type Interrupt, join64, MAX_HART, type RetiredSink, type Says, UNKNOWN } from '../retired/sink.js';
import { UnknownCode } from '../retired/unknown-code.js';
import { HexColumn, NumberColumn, startsWith } from '../text/columns.js';
import { CR, LF } from '../text/lines.js';
import { TextBytes } from '../text/text-bytes.js';
import { UnknownLines } from '../text/unknown-lines.js';
import { causeOf } from './causes.js';
import type { CountBase } from './counts.js';
import { CommitEffects } from './effects.js';

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
