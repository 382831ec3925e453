/**
 * Signs that values of a file are damaged or missing, though every entry is well-formed: flux has no checksums, and one changed bit can make a value
 * swallow those after it.
 */
import { UscopeError } from '../../base/errors.js';
import type { FluxCursor } from './cursor.js';
import type { FluxLane, SurveyedSignal } from './survey.js';
import { FluxTag } from './types.js';
import { decodeValue } from './values.js';

/** Signals that are named; of others there is only the number. */
const NAMED = 5;

export class Doubts {
  private readonly misfits: string[] = [];
  private numMisfits = 0;
  private gaps = 0;
  private firstGap = 0;
  private firstMisfit = 0;
  /** Sections of the ring buffer so far. */
  private sections = 0;
  /** All entries of the section so far were positions. */
  private isAtStart = false;

  /** An entry of a ring buffer, before its lane has been moved to its position. */
  inRing(cursor: FluxCursor, lane: FluxLane | null): void {
    const { tag } = cursor;
    if (tag === FluxTag.RING) {
      this.sections = 0;
      return;
    }
    if (cursor.at === 0 && cursor.depth === 1) {
      this.sections++;
      this.isAtStart = true;
    }
    if (tag !== FluxTag.CURR) this.isAtStart = false;
    // What came before the oldest section has been overwritten.
    if (!this.isAtStart || this.sections === 1 || !lane?.isKnown || !cursor.group) return;
    const { lo, hi } = cursor.group;
    if (lo === lane.lo && hi === lane.hi) return;
    if (this.gaps++ === 0) this.firstGap = cursor.offset;
  }

  /** A value that has no other form than its bytes. */
  bytesOnly({ type }: SurveyedSignal, cursor: FluxCursor, name: string): void {
    try {
      decodeValue(type, cursor.df, cursor.xdf, cursor.value);
    } catch {
      if (this.numMisfits++ === 0) this.firstMisfit = cursor.offset;
      if (this.misfits.length < NAMED) this.misfits.push(name);
    }
  }

  /** What to warn of. */
  messages(): string[] {
    const messages: string[] = [];
    if (this.gaps > 0) {
      const which =
        this.gaps === 1 ? 'a section of the ring buffer does' : `${this.gaps} sections of the ring buffer do`;
      const what = `${which} not begin at the time at which the one before ends: values before that are damaged or missing`;
      messages.push(new UscopeError('CONVERT_FORMAT', what, { offset: this.firstGap }).message);
    }
    if (this.numMisfits > 0) {
      const more = this.numMisfits > NAMED ? ` and ${this.numMisfits - NAMED} more` : '';
      const what = `values of ${this.misfits.join(', ')}${more} are none of their signal's type: all values of the signal are kept as bytes, and those after a damaged one may be missing`;
      messages.push(new UscopeError('CONVERT_FORMAT', what, { offset: this.firstMisfit }).message);
    }
    return messages;
  }
}
