/** The figures of a range beside those of the run, as lines of a table. */
import { type CoreReport, comparedTables, type FigureUnit } from 'uscope/cpu';
import { countText, rateText, shareText } from './number-text.js';

interface FigureRow {
  readonly name: string;
  readonly range: string;
  readonly run: string;
  /** How far the range differs from the run, 1: as much as it can; signed. 0 where they cannot be compared. */
  readonly difference: number;
  /** How much larger it is in the range than in the run, in parts of the run's; 0 where they cannot be compared. */
  readonly change: number;
}

interface FigureGroup {
  readonly title: string;
  readonly rows: readonly FigureRow[];
}

type Value = number | bigint | null | undefined;

/** @param range null: not known yet. @param run null: not known yet */
export function figureGroups(range: CoreReport | null, run: CoreReport | null): FigureGroup[] {
  const reports = [range, run];
  return comparedTables(reports).map(({ title, figures }) => ({
    title,
    rows: figures.map(({ name, unit, values }) => {
      const [inRange, inRun] = values;
      const texts = values.map((value, index) => (reports[index] ? textOf(unit, value) : ''));
      return { name, range: texts[0] ?? '', run: texts[1] ?? '', ...changeOf(unit, inRange, inRun) };
    }),
  }));
}

function textOf(unit: FigureUnit, value: Value): string {
  if (unit === 'count' || typeof value === 'bigint') return countText(value);
  return unit === 'share' ? shareText(value) : rateText(value);
}

/** How many there are is not a difference: the run is longer. */
function changeOf(unit: FigureUnit, range: Value, run: Value): Pick<FigureRow, 'difference' | 'change'> {
  if (typeof range !== 'number' || typeof run !== 'number' || (range === 0 && run === 0)) {
    return { difference: 0, change: 0 };
  }
  return {
    difference: unit === 'count' ? 0 : (range - run) / Math.max(Math.abs(range), Math.abs(run)),
    change: run === 0 ? 0 : (range - run) / Math.abs(run),
  };
}
