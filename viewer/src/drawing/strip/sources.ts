/** Chooses the source of sums: blocks where a pixel holds few cycles, else the index, for the range in sight; until that is here, what came before. */
import type { SumsRange, TraceInfo } from '../../data/protocol.js';
import { IntervalSums, type Sums, type SumsPart } from '../../model/sums.js';
import type { PlotSize, View } from '../../model/view.js';
import type { RowStore } from '../row-store.js';
import { FineSums } from './fine-sums.js';

/** Shortest intervals of an index. */
const BUCKET_CYCLES = 256;
const MAX_INTERVALS = 65_536;
/** Ranges kept: the picture after a step back is there immediately. */
const MAX_WINDOWS = 6;

/** What a picture of time is made of, the best first. */
export interface SumsChoice {
  readonly layers: readonly Sums[];
  /** Segments that are missing. */
  readonly missing: readonly number[];
  /** Range of the index that is missing. */
  readonly range: SumsRange | null;
  readonly isUnfinished: boolean;
}

interface Window {
  readonly view: View;
  readonly plot: PlotSize;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
}

export class SumsSources {
  /** Of the whole run. */
  overview: Sums | null = null;
  private readonly fine: FineSums;
  /** The one that came last comes first. */
  private windows: Sums[] = [];

  constructor(info: TraceInfo) {
    this.fine = new FineSums(info);
  }

  /** What was summed up before the trace had grown may end too early. */
  grow(info: TraceInfo, wasEnd: number): void {
    this.fine.grow(info);
    this.windows = this.windows.filter(({ to }) => to < wasEnd);
  }

  add(part: SumsPart, isOverview: boolean): void {
    const sums = new IntervalSums(part);
    if (isOverview) this.overview = sums;
    else this.windows = [sums, ...this.windows].slice(0, MAX_WINDOWS);
  }

  choose({ view, plot, ratio }: Window, store: RowStore): SumsChoice {
    const pixel = 1 / (view.scale * ratio);
    const { firstCycle, lastCycle } = store.extent;
    const from = Math.max(firstCycle, Math.floor(view.x));
    const to = Math.min(lastCycle, Math.ceil(view.x + plot.width / view.scale));
    const coarse = [...this.windows, ...(this.overview ? [this.overview] : [])];
    if (to <= from) return { layers: coarse, missing: [], range: null, isUnfinished: false };
    const segments = store.segmentsOfCycles(from, to);
    if (pixel < BUCKET_CYCLES && this.fine.covers(segments)) {
      const missing = segments.filter((segment) => !store.has(segment));
      const areHere = segments.every((segment) => store.isHere(segment));
      const sums = areHere ? this.fine.of(store, segments) : null;
      const isUnfinished = areHere && sums === null;
      return { layers: sums ? [sums, ...coarse] : coarse, missing, range: null, isUnfinished };
    }
    const longest = Math.max(pixel, BUCKET_CYCLES);
    const isGood = (sums: Sums): boolean => sums.step <= longest && sums.from <= from && sums.to >= to;
    const range = coarse.some(isGood) ? null : rangeFor(from, to, plot.width * ratio, store);
    return { layers: bestFirst(coarse, longest), missing: [], range, isUnfinished: false };
  }
}

/** The longest intervals that are short enough come first, then ever longer ones, then the shorter ones. */
function bestFirst(layers: readonly Sums[], longest: number): Sums[] {
  const rank = ({ step }: Sums): number => (step <= longest ? longest - step : step);
  return [...layers].sort((a, b) => rank(a) - rank(b));
}

/** Twice as long as what is in sight, and the same for small moves. Two intervals or more for each pixel. */
function rangeFor(from: number, to: number, pixels: number, store: RowStore): SumsRange {
  const { firstCycle, lastCycle } = store.extent;
  const quarter = 2 ** Math.ceil(Math.log2(Math.max(BUCKET_CYCLES, (to - from) / 4)));
  const start = Math.floor(from / quarter) * quarter - 2 * quarter;
  const end = Math.ceil(to / quarter) * quarter + 2 * quarter;
  const share = (end - start) / (to - from);
  return {
    from: Math.max(firstCycle, start),
    to: Math.min(lastCycle, end),
    intervals: Math.min(MAX_INTERVALS, Math.ceil(2 * share * pixels)),
  };
}
