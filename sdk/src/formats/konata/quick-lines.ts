/**
 * The lines of a log as viewers and simulators write them, from their bytes: a tab between columns, numbers of at most 15 digits, ASCII, nothing
 * after the last column. `parseLine` (parse.ts) is the reference and takes all others; a test compares the two.
 */
import { NumberColumn, Words } from '../text/columns.js';
import { CR, LF } from '../text/lines.js';
import { TextBytes } from '../text/text-bytes.js';
import type { KanataVisitor } from './visitor.js';

const TAB = 9;
const [C, E, I, L, R, S, W] = [...'CEILRSW'].map((letter) => letter.charCodeAt(0));

export class QuickLines {
  /** Start of the line after the one that was taken. */
  next = 0;
  private readonly a = new NumberColumn();
  private readonly b = new NumberColumn();
  private readonly c = new NumberColumn();
  private readonly words = new Words();
  private readonly text = new TextBytes();

  /** Takes the line at `at`, which ends with a line feed. False, and nothing was visited: it is not such a line. @throws what the visitor throws */
  take(bytes: Uint8Array, at: number, visitor: KanataVisitor): boolean {
    if (bytes[at + 1] !== TAB) return false;
    switch (bytes[at]) {
      case S:
        return this.takeStage(bytes, at + 2, visitor, true);
      case E:
        return this.takeStage(bytes, at + 2, visitor, false);
      case L:
        return this.takeLabel(bytes, at + 2, visitor);
      case C:
        if (!this.a.take(bytes, at + 2) || !this.isEnd(bytes, this.a.at)) return false;
        visitor.advance(this.a.value);
        return true;
      case I:
        if (!this.takeNumbers(bytes, at + 2)) return false;
        visitor.begin(this.a.value, this.b.value, this.c.value);
        return true;
      case R:
        if (!this.takeNumbers(bytes, at + 2)) return false;
        visitor.retire(this.a.value, this.b.value, this.c.value);
        return true;
      case W:
        if (!this.takeNumbers(bytes, at + 2)) return false;
        visitor.dependency(this.a.value, this.b.value, this.c.value);
        return true;
      default:
        return false;
    }
  }

  private takeNumbers(bytes: Uint8Array, at: number): boolean {
    const { a, b, c } = this;
    if (!a.take(bytes, at) || bytes[a.at] !== TAB) return false;
    if (!b.take(bytes, a.at + 1) || bytes[b.at] !== TAB) return false;
    return c.take(bytes, b.at + 1) && this.isEnd(bytes, c.at);
  }

  private takeStage(bytes: Uint8Array, at: number, visitor: KanataVisitor, isStart: boolean): boolean {
    const { a, b } = this;
    if (!a.take(bytes, at) || bytes[a.at] !== TAB) return false;
    if (!b.take(bytes, a.at + 1) || bytes[b.at] !== TAB) return false;
    const from = b.at + 1;
    let to = from;
    while (bytes[to] > 0x20) to++;
    if (!this.isEnd(bytes, to)) return false;
    const stage = this.words.at(bytes, from, to);
    if (stage === null) return false;
    if (isStart) visitor.start(a.value, b.value, stage);
    else visitor.end(a.value, b.value, stage);
    return true;
  }

  private takeLabel(bytes: Uint8Array, at: number, visitor: KanataVisitor): boolean {
    const { a, b } = this;
    if (!a.take(bytes, at) || bytes[a.at] !== TAB) return false;
    if (!b.take(bytes, a.at + 1) || bytes[b.at] !== TAB) return false;
    const from = b.at + 1;
    let to = from;
    for (let byte = bytes[to]; byte !== LF; byte = bytes[++to])
      if (byte > 0x7e || byte === TAB || byte === CR) return false;
    this.next = to + 1;
    visitor.label(a.value, b.value, this.text.point(bytes, from, to));
    return true;
  }

  private isEnd(bytes: Uint8Array, at: number): boolean {
    this.next = at + 1;
    return bytes[at] === LF;
  }
}
