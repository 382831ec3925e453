/**
 * The lines of O3PipeView as gem5 prints them, from their bytes: no blanks around numbers, numbers of at most 15 digits, addresses of at most 13,
 * ASCII. `parseLine` (parse.ts) is the reference and takes all others; a test compares the two.
 */
import { NumberColumn } from '../text/columns.js';
import { LF } from '../text/lines.js';
import { GEM5_STAGES } from './types.js';

const PREFIX = [...'O3PipeView:'].map((letter) => letter.charCodeAt(0));
const NAMES = GEM5_STAGES.map((name) => [...`${name}:`].map((letter) => letter.charCodeAt(0)));
const STORE = [...':store:'].map((letter) => letter.charCodeAt(0));
const RETIRE = GEM5_STAGES.length - 1;
const [BLANK, COLON, ZERO, X] = [0x20, 0x3a, 0x30, 0x78];
const [RENAME, DECODE, DISPATCH, ISSUE, COMPLETE] = [2, 1, 3, 4, 5];
const EXACT_DIGITS = 13;

export class QuickLines {
  stage = 0;
  tick = 0;
  storeTick = 0;
  pc = 0;
  microPc = 0;
  seq = 0;
  /** Of the disassembly in the bytes. */
  textFrom = 0;
  textTo = 0;
  /** Start of the next line. */
  next = 0;
  private readonly number = new NumberColumn();

  /** The line at `at`, which ends with a line feed. False: it is not such a line, and what the fields hold means nothing. */
  take(bytes: Uint8Array, at: number): boolean {
    if (!isAt(PREFIX, bytes, at)) return false;
    const word = at + PREFIX.length;
    const stage = stageAt(bytes, word);
    const name = NAMES[stage];
    if (!isAt(name, bytes, word)) return false;
    const { number } = this;
    if (!number.take(bytes, word + name.length)) return false;
    this.stage = stage;
    this.tick = number.value;
    this.storeTick = 0;
    if (stage === 0) return this.takeFetch(bytes, number.at);
    let end = number.at;
    if (stage === RETIRE && bytes[end] === COLON) {
      if (!isAt(STORE, bytes, end) || !number.take(bytes, end + STORE.length)) return false;
      this.storeTick = number.value;
      end = number.at;
    }
    this.next = end + 1;
    return bytes[end] === LF;
  }

  private takeFetch(bytes: Uint8Array, from: number): boolean {
    const { number } = this;
    if (bytes[from] !== COLON || bytes[from + 1] !== ZERO || bytes[from + 2] !== X) return false;
    const start = from + 3;
    let at = start;
    let pc = 0;
    for (let digit = hexDigit(bytes[at]); digit >= 0; digit = hexDigit(bytes[++at])) pc = pc * 16 + digit;
    if (at === start || at - start > EXACT_DIGITS || bytes[at] !== COLON) return false;
    this.pc = pc;
    if (!number.take(bytes, at + 1) || bytes[number.at] !== COLON) return false;
    this.microPc = number.value;
    if (!number.take(bytes, number.at + 1) || bytes[number.at] !== COLON) return false;
    this.seq = number.value;
    return this.takeText(bytes, number.at + 1);
  }

  private takeText(bytes: Uint8Array, from: number): boolean {
    let start = from;
    while (bytes[start] === BLANK) start++;
    let end = start;
    for (let byte = bytes[end]; byte !== LF; byte = bytes[++end])
      if (byte < BLANK || byte > 0x7e) return false;
    this.next = end + 1;
    while (end > start && bytes[end - 1] === BLANK) end--;
    this.textFrom = start;
    this.textTo = end;
    return true;
  }
}

/** Which stage a word can be, by the letters in which they differ. */
function stageAt(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x66:
      return 0;
    case 0x64:
      return bytes[at + 1] === 0x65 ? DECODE : DISPATCH;
    case 0x69:
      return ISSUE;
    case 0x63:
      return COMPLETE;
    default:
      return bytes[at + 2] === 0x6e ? RENAME : RETIRE;
  }
}

function isAt(word: readonly number[], bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
