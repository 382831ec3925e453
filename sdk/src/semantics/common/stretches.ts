/**
 * A range of segments divided into stretches, which several readers of the trace look at at once. What each has found is joined in order, so that the
 * whole is what one scan finds.
 */
import type { Trace } from '../../reader/index.js';

/** Segments `begin` to `end`, exclusive; `end` null: to the end of the range. */
export interface Stretch {
  readonly begin: number;
  readonly end: number | null;
}

export interface StretchCall {
  readonly signal?: AbortSignal | undefined;
  /** Told how much of the stretch is done, 0 to 1. */
  readonly progress?: ((fraction: number) => void) | undefined;
  /** Awaited now and then between slices of work: see `RequestCall.pause`. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** Has stretches looked at elsewhere: see `TraceWorkers` (workers/). Work and what it gives are plain data. */
export interface StretchRunner {
  /** Stretches looked at at once. */
  readonly jobs: number;
  run(kind: string, work: unknown, call: StretchCall): Promise<unknown>;
  /** Segments in (first, last] at which stretches begin, rising; default: as suits `jobs`. */
  borders?(first: number, last: number): readonly number[];
}

/** Shorter stretches are not worth the segments read in front of them. */
const MIN_SEGMENTS = 6;
/** Some stretches take longer than others, and other processes use the machine: more of them than jobs keep all busy to the end. */
const PER_JOB = 4;

/** The stretches of segments `first` to `last` (inclusive); one: not worth dividing. */
function divide(runner: StretchRunner, first: number, last: number): Stretch[] {
  const borders = runner.borders?.(first, last) ?? evenBorders(first, last, runner.jobs);
  return [first, ...borders].map((begin, index) => ({ begin, end: borders[index] ?? null }));
}

function evenBorders(first: number, last: number, jobs: number): number[] {
  const count = last - first + 1;
  const parts = jobs < 2 ? 1 : Math.min(jobs * PER_JOB, Math.floor(count / MIN_SEGMENTS));
  return Array.from({ length: Math.max(0, parts - 1) }, (_, i) =>
    Math.round(first + ((i + 1) * count) / parts),
  );
}

/** How much of all stretches is done, from how much of each is. */
function sumProgress(
  count: number,
  progress: ((fraction: number) => void) | undefined,
): (index: number, fraction: number) => void {
  const done = new Float64Array(count);
  return (index, fraction) => {
    done[index] = fraction;
    progress?.(done.reduce((sum, one) => sum + one, 0) / count);
  };
}

/** The parts of one stretch cannot be joined exactly with those before: the range has to be read in one go. */
export class NotMergeable extends Error {}

/** A question over a range that is asked of stretches of it. */
export interface Question<Part, Carry> extends StretchCall {
  /** See `StretchRunner`. */
  readonly kind: string;
  /** In ps; start inclusive, end exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  /** The segment that the first stretch begins with; default: the first that reaches the range. */
  readonly first?: number;
  /** What is asked of a stretch. @param carry what is known in front of it; null: it has to find out */
  work(stretch: Stretch, carry: Carry | null): unknown;
  /** Adds what the next stretch has found; false: it did not begin with what the one before has ended with. @throws NotMergeable */
  add(part: Part): boolean;
  /** What is known behind the parts added. */
  carry(): Carry;
}

/** @returns false: not worth it, or one scan has to be made, which also reports damage as one scan does */
export async function askStretches<Part, Carry>(
  trace: Trace,
  runner: StretchRunner | undefined,
  question: Question<Part, Carry>,
): Promise<boolean> {
  const stretches = runner ? await stretchesOf(trace, runner, question) : [];
  if (!runner || stretches.length < 2) return false;
  const { kind, signal, progress } = question;
  const tell = sumProgress(stretches.length, progress);
  const run = (index: number, carry: Carry | null, signal: AbortSignal) =>
    runner.run(kind, question.work(stretches[index], carry), {
      signal,
      progress: (share) => tell(index, share),
    }) as Promise<Part>;
  try {
    await inOrder(
      stretches.map((_, index) => (signal: AbortSignal) => run(index, null, signal)),
      signal,
      async (part, index, signal) => {
        if (question.add(part)) return;
        // It began with a wrong guess of what was before: now that is known.
        if (!question.add(await run(index, question.carry(), signal)))
          throw new NotMergeable('a border does not fit');
      },
    );
    return true;
  } catch {
    signal?.throwIfAborted();
    return false;
  }
}

/** All borders lie behind the start of the range. */
async function stretchesOf<Part, Carry>(
  trace: Trace,
  runner: StretchRunner,
  { from, to, first }: Question<Part, Carry>,
): Promise<Stretch[]> {
  if (trace.segmentCount === 0 || to <= from) return [];
  const begin = await trace.firstSegmentReaching(from);
  const last = await trace.segmentAt(to - 1n);
  const [, ...rest] = divide(runner, begin, last);
  const behind: Stretch[] = [];
  for (const stretch of rest) {
    if ((await trace.segment(stretch.begin)).timeStartPs > from) behind.push(stretch);
  }
  const all = [{ begin: first ?? begin, end: behind[0]?.begin ?? null }, ...behind];
  // A live trace may go on meanwhile.
  return all.map((stretch) => ({ ...stretch, end: stretch.end ?? trace.segmentCount }));
}

/**
 * Starts `run` for every stretch and hands over what they give in order; when one fails, or `join` throws, the others are ended.
 */
async function inOrder<T>(
  runs: readonly ((signal: AbortSignal) => Promise<T>)[],
  signal: AbortSignal | undefined,
  join: (part: T, index: number, signal: AbortSignal) => Promise<void> | void,
): Promise<void> {
  signal?.throwIfAborted();
  const others = new AbortController();
  const stop = (): void => others.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  const parts = runs.map((run) => run(others.signal));
  for (const part of parts) part.catch(() => undefined);
  try {
    for (const [index, part] of parts.entries()) await join(await part, index, others.signal);
  } finally {
    signal?.removeEventListener('abort', stop);
    others.abort();
  }
}
