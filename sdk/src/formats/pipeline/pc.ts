/** The address that the text next to an instruction begins with. */
import { HexColumn, type TextBytes } from '../text/columns.js';

const WITH_PREFIX = /^\s*0[xX]([0-9a-fA-F]{1,16})(?![0-9a-zA-Z])/;
const BEFORE_COLON = /^\s*([0-9a-fA-F]{1,16}):/;
/** Without prefix and colon it could be a word (`add`): at least four digits, one of them decimal. */
const BARE = /^\s*(?=[0-9a-fA-F]*\d)([0-9a-fA-F]{4,16})(?=\s|$)/;

/** Null: the text begins with none. */
export function leadingPc(text: string): bigint | null {
  const digits = (WITH_PREFIX.exec(text) ?? BEFORE_COLON.exec(text) ?? BARE.exec(text))?.[1];
  return digits === undefined ? null : BigInt(`0x${digits}`);
}

const MAX_HEAD = 64;
/** Hexadecimal digits that a number holds exactly. */
const EXACT_DIGITS = 13;
const BLANK = 0x20;
const COLON = 0x3a;
const digits = new HexColumn();

/** Joins the pieces of text next to an instruction, until they have an address or are long enough to have had one. */
export class PcFinder {
  isFound = false;
  private head = '';

  /** No more text will change anything. */
  get isOver(): boolean {
    return this.isFound || this.head.length >= MAX_HEAD;
  }

  /** Null: there is none yet, or it is known. */
  take(text: TextBytes): number | bigint | null {
    if (this.isOver) return null;
    if (this.head === '') {
      const pc = pcBeforeColon(text);
      this.isFound = pc >= 0;
      if (pc >= 0) return pc;
    }
    this.head += text;
    const pc = leadingPc(this.head);
    // An address that continues in the next fragment is corrected then.
    this.isFound = pc !== null && this.head.trimStart().length > 20;
    return pc;
  }
}

/** The usual form, without a string; -1: it may be another one. */
function pcBeforeColon({ bytes, from, to }: TextBytes): number {
  let at = from;
  while (at < to && bytes[at] === BLANK) at++;
  if (!digits.take(bytes, at) || digits.digits > EXACT_DIGITS) return -1;
  return digits.at < to && bytes[digits.at] === COLON ? Number(digits.value) : -1;
}
