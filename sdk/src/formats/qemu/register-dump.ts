/**
 * The registers that follow a `Trace`. All dumps of a log have the same lines, at the same distances: after the first one, the places are
 * checked and only the register that is asked for is read.
 */
import { HexColumn, NumberColumn } from '../text/columns.js';
import { LF } from '../text/lines.js';

const BLANK = 0x20;
const LETTER_X = 0x78;
const SLASH = 0x2f;
const REGISTERS = 32;
const MOST_LINES = 512;

/** What all dumps have in common. */
interface Form {
  /** Where its first line and those of registers begin, and the two letters after the blank there: what the others hold has no events. */
  readonly starts: readonly number[];
  readonly heads: readonly number[];
  /** Where the digits of each register are. */
  readonly places: readonly number[];
  readonly digits: number;
  readonly size: number;
}

export class RegisterDump {
  low = 0;
  high = 0;
  /** All registers have come. */
  isWhole = false;
  /** Lines of registers in the last dump. */
  lines = 0;
  private readonly lows = new Uint32Array(REGISTERS);
  private readonly highs = new Uint32Array(REGISTERS);
  private count = 0;
  private form: Form | null = null;
  /** The form of the dump that comes. */
  private starts: number[] = [];
  private heads: number[] = [];
  private places: number[] = [];
  private digits = 0;
  private size = 0;
  private lineStart = 0;
  /** The dump as bytes, where it has the form; -1: its lines were read. */
  private base = -1;
  private bytes: Uint8Array = new Uint8Array(0);
  private readonly number = new NumberColumn();
  private readonly value = new HexColumn();

  begin(): void {
    this.isWhole = false;
    this.count = 0;
    this.lines = 0;
    this.size = 0;
    this.base = -1;
    if (this.starts.length === 0) return;
    this.starts = [];
    this.heads = [];
    this.places = [];
  }

  /** The whole dump, where it is like the one before it. @returns where the next line begins; `at`: it is not */
  takeAll(bytes: Uint8Array, at: number, end: number): number {
    const { form } = this;
    if (!form || this.size > 0 || at + form.size > end) return at;
    const { starts, heads, size } = form;
    for (let i = 0; i < starts.length; i++) {
      const start = at + starts[i];
      if (headOf(bytes, start) !== heads[i] || (i > 0 && bytes[start - 1] !== LF)) return at;
    }
    if (bytes[at + size - 1] !== LF) return at;
    this.bytes = bytes;
    this.base = at;
    this.isWhole = true;
    this.lines = REGISTERS / 4;
    return at + size;
  }

  /** A line of the dump. @param after where the next one begins */
  line(bytes: Uint8Array, at: number, after: number): void {
    if (this.starts.length < MOST_LINES && (this.size === 0 || bytes[at + 1] === LETTER_X)) {
      this.starts.push(this.size);
      this.heads.push(headOf(bytes, at));
    }
    this.lineStart = this.size;
    this.size += after - at;
  }

  /** ` x0/zero  00000000 x1/ra    80000010 …`. False: it is not understood. */
  registers(bytes: Uint8Array, from: number, to: number): boolean {
    const { number, value } = this;
    let at = from;
    while (at < to) {
      if (bytes[at] !== BLANK || bytes[at + 1] !== LETTER_X || !number.take(bytes, at + 2)) return false;
      if (bytes[number.at] !== SLASH || number.value >= REGISTERS) return false;
      at = number.at;
      while (at < to && bytes[at] !== BLANK) at++;
      while (bytes[at] === BLANK) at++;
      if (!value.take(bytes, at) || value.at > to) return false;
      this.lows[number.value] = value.low;
      this.highs[number.value] = value.high;
      this.places[number.value] = this.lineStart + at - from;
      this.digits = value.digits;
      this.count++;
      at = value.at;
    }
    return true;
  }

  /** After a line: the dump may be whole. @param isClean no line between was odd: the next dump may look the same */
  ended(isClean: boolean): void {
    this.lines++;
    this.isWhole = this.count >= REGISTERS;
    const { starts, heads, places, digits, size } = this;
    if (!this.isWhole || !isClean || starts.length >= MOST_LINES || places.length < REGISTERS) return;
    this.form = { starts, heads, places, digits, size };
  }

  /** Puts a register into `low` and `high`. */
  read(index: number): void {
    const { form, base, value } = this;
    if (base >= 0 && form) value.take(this.bytes, base + form.places[index]);
    this.low = base >= 0 ? value.low : this.lows[index];
    this.high = base >= 0 ? value.high : this.highs[index];
  }
}

function headOf(bytes: Uint8Array, at: number): number {
  return bytes[at + 1] | (bytes[at + 2] << 8);
}
