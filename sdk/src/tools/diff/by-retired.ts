/**
 * Two runs by the instructions they retire, core by core: when these passed plays no part, so runs with different timing can be compared.
 * After a difference the two are brought together again where they continue alike within a window.
 */
import { MAX_MEETINGS, MEETING_AGREES, meetingSkips } from '../../semantics/cpu/realignment.js';
import type { RetiredCoreReport, RetiredDivergence, RetiredInstruction } from './report.js';

export interface RetiredCore {
  readonly name: string;
  readonly a: AsyncIterable<RetiredInstruction>;
  readonly b: AsyncIterable<RetiredInstruction>;
}

export interface RetiredOptions {
  /** Names of `values` that are compared next to pc and machine code. */
  readonly compare: readonly string[];
  /** Instructions shown around the divergence. */
  readonly context: number;
  readonly stopAtFirst: boolean;
  /** Called now and then with the number of instructions compared. */
  readonly onProgress?: ((instructions: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const REPORT_EVERY = 4096;

export async function diffRetired(core: RetiredCore, options: RetiredOptions): Promise<RetiredCoreReport> {
  const walk = new RetiredWalk(core, options);
  try {
    await walk.run();
  } finally {
    await walk.close();
  }
  return walk.report();
}

class RetiredWalk {
  private readonly a: Lookahead;
  private readonly b: Lookahead;
  private first: RetiredDivergence | null = null;
  private readonly before: RetiredInstruction[] = [];
  private same = 0;
  private stretches = 0;
  private changed = 0;
  private onlyA = 0;
  private onlyB = 0;
  private aligned = true;

  constructor(
    private readonly core: RetiredCore,
    private readonly options: RetiredOptions,
  ) {
    this.a = new Lookahead(core.a);
    this.b = new Lookahead(core.b);
  }

  async run(): Promise<void> {
    const { a, b, options } = this;
    for (let n = 0; ; n++) {
      if (n % REPORT_EVERY === 0) {
        options.signal?.throwIfAborted();
        options.onProgress?.(a.taken + b.taken);
      }
      const [x, y] = [await a.peek(0), await b.peek(0)];
      if (!x && !y) return;
      if (x && y && this.differences(x, y).length === 0) {
        this.agree(x);
        continue;
      }
      await this.diverge(x, y);
      if (options.stopAtFirst) return;
      if (x && y && (await this.align())) continue;
      this.aligned = !x || !y;
      await this.count(a);
      await this.count(b);
      return;
    }
  }

  async close(): Promise<void> {
    await this.a.close();
    await this.b.close();
  }

  private agree(x: RetiredInstruction): void {
    this.same++;
    this.a.drop(1);
    this.b.drop(1);
    if (this.first || this.options.context === 0) return;
    this.before.push(x);
    if (this.before.length > this.options.context) this.before.shift();
  }

  /** Names of what differs. What one of them does not record is not compared. */
  private differences(x: RetiredInstruction, y: RetiredInstruction): string[] {
    const found: string[] = [];
    if (x.pc !== null && y.pc !== null && x.pc !== y.pc) found.push('pc');
    if (x.bits !== null && y.bits !== null && x.bits !== y.bits) found.push('bits');
    for (const name of this.options.compare) {
      const [u, v] = [x.values[name] ?? null, y.values[name] ?? null];
      if (u !== null && v !== null && u !== v) found.push(name);
    }
    return found;
  }

  private async diverge(x: RetiredInstruction | null, y: RetiredInstruction | null): Promise<void> {
    this.stretches++;
    if (this.first) return;
    const { a, b, same, before, options } = this;
    this.first = {
      core: this.core.name,
      index: same,
      fields: x && y ? this.differences(x, y) : [],
      a: x,
      b: y,
      before: [...before],
      nextA: await a.next(options.context + 1),
      nextB: await b.next(options.context + 1),
    };
  }

  /**
   * Skips the fewest instructions after which the two agree again. False when they do not within the window, and when there have been too
   * many such places.
   */
  private async align(): Promise<boolean> {
    if (this.stretches > MAX_MEETINGS) return false;
    const { a, b } = this;
    for (const [i, j] of meetingSkips()) {
      if (!(await this.agreesAt(i, j))) continue;
      const changed = Math.min(i, j);
      this.changed += changed;
      this.onlyA += i - changed;
      this.onlyB += j - changed;
      a.drop(i);
      b.drop(j);
      return true;
    }
    return false;
  }

  /** Whether the two continue alike, or both end, after this number of instructions. */
  private async agreesAt(i: number, j: number): Promise<boolean> {
    if (i > 0 && !(await this.a.peek(i - 1))) return false;
    if (j > 0 && !(await this.b.peek(j - 1))) return false;
    for (let k = 0; k < MEETING_AGREES; k++) {
      const [x, y] = [await this.a.peek(i + k), await this.b.peek(j + k)];
      if (!x && !y) return true;
      if (!x || !y || this.differences(x, y).length > 0) return false;
    }
    return true;
  }

  private async count(side: Lookahead): Promise<void> {
    const before = side.taken;
    await side.skipAll();
    if (side === this.a) this.onlyA += side.taken - before;
    else this.onlyB += side.taken - before;
  }

  report(): RetiredCoreReport {
    const { first, same, stretches, changed, onlyA, onlyB, aligned } = this;
    return {
      core: this.core.name,
      first,
      retiredA: this.a.taken,
      retiredB: this.b.taken,
      same,
      stretches,
      changed,
      onlyA,
      onlyB,
      aligned,
    };
  }
}

/** A stream of which some can be looked at before they are taken. */
class Lookahead {
  /** Instructions dropped so far. */
  taken = 0;
  private queue: RetiredInstruction[] = [];
  private head = 0;
  private isDone = false;
  private readonly iterator: AsyncIterator<RetiredInstruction>;

  constructor(source: AsyncIterable<RetiredInstruction>) {
    this.iterator = source[Symbol.asyncIterator]();
  }

  async peek(index: number): Promise<RetiredInstruction | null> {
    while (!this.isDone && this.queue.length - this.head <= index) {
      const { value, done } = await this.iterator.next();
      if (done) this.isDone = true;
      else this.queue.push(value);
    }
    return this.queue[this.head + index] ?? null;
  }

  async next(count: number): Promise<RetiredInstruction[]> {
    await this.peek(count - 1);
    return this.queue.slice(this.head, this.head + count);
  }

  drop(count: number): void {
    this.head += count;
    this.taken += count;
    if (this.head < 4096) return;
    this.queue = this.queue.slice(this.head);
    this.head = 0;
  }

  async skipAll(): Promise<void> {
    while (await this.peek(0)) this.drop(1);
  }

  async close(): Promise<void> {
    await this.iterator.return?.();
  }
}
