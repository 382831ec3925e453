/** Runs of cycles one after the other: stalled ones, ones without a retirement. */

export interface Run {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Cycles of the buckets of the index. */
const BUCKET = 256;

/**
 * The runs in `[from, to)` of the cycles listed, or of all others.
 * @param cycles rising, each once
 */
export function runsOf(cycles: readonly number[], from: number, to: number, isOthers: boolean): Run[] {
  const runs: Run[] = [];
  if (isOthers) {
    let start = from;
    for (const cycle of cycles) {
      if (cycle > start) runs.push({ from: start, to: cycle });
      start = cycle + 1;
    }
    if (to > start) runs.push({ from: start, to });
    return runs;
  }
  let first = 0;
  for (let at = 1; at <= cycles.length; at++) {
    if (at < cycles.length && cycles[at] === cycles[at - 1]! + 1) continue;
    runs.push({ from: cycles[first]!, to: cycles[at - 1]! + 1 });
    first = at;
  }
  return runs;
}

/** Two lists of runs, the second after the first: what touches is one run. */
export function joinRuns(before: readonly Run[], after: readonly Run[]): Run[] {
  const [last, first] = [before.at(-1), after[0]];
  if (!last || !first || last.to !== first.from) return [...before, ...after];
  return [...before.slice(0, -1), { from: last.from, to: first.to }, ...after.slice(1)];
}

/** Cycles of a run that at least one bucket must hold which a run longer than `longer` touches. */
export function leastInBucket(longer: number): number {
  const length = longer + 1;
  const buckets = Math.floor((length + BUCKET - 2) / BUCKET) + 1;
  return Math.min(BUCKET, Math.ceil(length / buckets));
}

/**
 * Where runs may be, from buckets of 256 cycles: a run that reaches into a neighbour of a bucket fills that bucket or ends in it.
 * @param isCandidate by bucket, the first one from `firstCycle` on
 */
export function spansOf(isCandidate: readonly boolean[], firstCycle: number): Run[] {
  const spans: Run[] = [];
  isCandidate.forEach((is, bucket) => {
    if (!is) return;
    const from = firstCycle + Math.max(0, bucket - 1) * BUCKET;
    const to = firstCycle + Math.min(isCandidate.length, bucket + 2) * BUCKET;
    const last = spans.at(-1);
    if (last && from <= last.to) spans[spans.length - 1] = { from: last.from, to };
    else spans.push({ from, to });
  });
  return spans;
}
