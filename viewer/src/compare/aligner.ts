/**
 * Two runs beside each other by what they retire: which instruction of the one is which of the other. Timing plays no part. After a difference
 * the two meet again by the rule of `uscope diff --by retired`.
 */
import { MAX_MEETINGS, MEETING_AGREES, MEETING_WINDOW, meetingSkips } from 'uscope/cpu';
import type { RetiredQueue } from './retired-queue.js';

/** Gets what the aligner decides, in the order of the program. The instructions are still the oldest of their queues. */
export interface AlignSink {
  /** The oldest of both is the same instruction of the program. */
  pair(): void;
  /**
   * The oldest of each are only in one run, or differ.
   * @param a instructions of A before the two meet again
   */
  difference(a: number, b: number): void;
  /** The two do not meet again: everything from here on. Called once, before `rest`. */
  apart(): void;
  /** Instructions that are compared with nothing, since the two do not meet again. */
  rest(side: 'a' | 'b', count: number): void;
}

const LOOKAHEAD = MEETING_WINDOW + MEETING_AGREES;

export class Aligner {
  private differences = 0;
  private isApart = false;

  /** @param same whether two entries of the shared table are the same instruction */
  constructor(
    private readonly a: RetiredQueue,
    private readonly b: RetiredQueue,
    private readonly same: (x: number, y: number) => boolean,
    private readonly sink: AlignSink,
  ) {}

  /** Takes from the queues what can be decided with what they hold. @returns everything is decided */
  run(): boolean {
    const { a, b } = this;
    while (!this.isApart) {
      if (a.length === 0 && b.length === 0 && a.isEnded && b.isEnded) return true;
      if ((a.length === 0 && !a.isEnded) || (b.length === 0 && !b.isEnded)) return false;
      if (a.length > 0 && b.length > 0 && this.same(a.staticAt(0), b.staticAt(0))) {
        this.sink.pair();
        a.drop(1);
        b.drop(1);
      } else if (!this.differ()) return false;
    }
    this.drain('a', a);
    this.drain('b', b);
    return a.isEnded && b.isEnded;
  }

  /** @returns false: more must be read first */
  private differ(): boolean {
    const { a, b } = this;
    if (!isFilled(a) || !isFilled(b)) return false;
    const skips = this.meeting();
    if (skips) {
      this.differences++;
      this.sink.difference(...skips);
      a.drop(skips[0]);
      b.drop(skips[1]);
    } else {
      this.isApart = true;
      this.sink.apart();
    }
    return true;
  }

  private meeting(): readonly [number, number] | null {
    const { a, b } = this;
    // One of them has ended: the rest of the other one is a difference.
    if (a.length === 0 || b.length === 0) return a.isEnded && b.isEnded ? [a.length, b.length] : null;
    if (this.differences > MAX_MEETINGS) return null;
    for (const skips of meetingSkips()) if (this.agreesAt(...skips)) return skips;
    return null;
  }

  /** Whether the two continue alike, or both end, after these numbers of instructions. */
  private agreesAt(i: number, j: number): boolean {
    const { a, b } = this;
    if (i > a.length || j > b.length) return false;
    for (let k = 0; k < MEETING_AGREES; k++) {
      const [inA, inB] = [i + k < a.length, j + k < b.length];
      if (!inA && !inB) return true;
      if (!inA || !inB || !this.same(a.staticAt(i + k), b.staticAt(j + k))) return false;
    }
    return true;
  }

  private drain(side: 'a' | 'b', queue: RetiredQueue): void {
    if (queue.length > 0) this.sink.rest(side, queue.length);
    queue.drop(queue.length);
  }
}

const isFilled = (queue: RetiredQueue): boolean => queue.isEnded || queue.length >= LOOKAHEAD;
