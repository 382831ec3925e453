/** The figures of a range beside those of the run, as lines of a table. */
import type { CoreReport, Distribution } from 'uscope/cpu';
import { countText, rateText, shareText } from './number-text.js';

export interface FigureRow {
  readonly name: string;
  readonly range: string;
  readonly run: string;
  /** How far the range differs from the run, 1: as much as it can; signed. 0 where they cannot be compared. */
  readonly difference: number;
  /** How much larger it is in the range than in the run, in parts of the run's; 0 where they cannot be compared. */
  readonly change: number;
}

export interface FigureGroup {
  readonly title: string;
  readonly rows: readonly FigureRow[];
}

type Pick = (report: CoreReport) => number | null | undefined;

/** @param range null: not known yet. @param run null: not known yet */
export function figureGroups(range: CoreReport | null, run: CoreReport | null): FigureGroup[] {
  const table = new Table(range, run);
  const names = (list: (report: CoreReport) => readonly string[]): string[] => [
    ...new Set([range, run].flatMap((report) => (report ? list(report) : []))),
  ];
  const groups: FigureGroup[] = [
    {
      title: 'Instructions',
      rows: [
        table.rate('IPC', ({ instructions }) => instructions.ipc),
        table.count('cycles', ({ clockCycles }) => clockCycles),
        table.count('retired', ({ instructions }) => instructions.retired),
        table.count('fetched', ({ instructions }) => instructions.fetched),
        table.count('squashed', ({ instructions }) => instructions.squashed),
        table.share('share squashed', ({ instructions }) => instructions.squashedShare),
      ],
    },
    {
      title: 'Stalled cycles',
      rows: [
        table.share('any reason', ({ stalls }) => stalls.share),
        ...names(({ stalls }) => stalls.reasons.map(({ reason }) => reason)).map((reason) =>
          table.share(reason, ({ stalls }) => shareOf(stalls.reasons, reason)),
        ),
      ],
    },
    {
      title: 'Flushes per 1,000 instructions',
      rows: [
        table.rate('all', ({ flushes }) => flushes.perKiloInstructions),
        ...names(({ flushes }) => flushes.reasons.map(({ reason }) => reason)).map((reason) =>
          table.rate(reason, ({ flushes }) => perKilo(flushes.reasons, reason)),
        ),
      ],
    },
    {
      title: 'Prediction and caches',
      rows: names(({ ratios }) => ratios.map(({ name }) => name)).map((name) =>
        table.share(name, ({ ratios }) => ratios.find((one) => one.name === name)?.ratio),
      ),
    },
    {
      title: 'Latency in cycles: median, 90 %, 99 %',
      rows: [
        table.latency('fetch to retirement', ({ lifetime }) => lifetime),
        ...names(({ stages }) => stages.map(({ stage }) => stage)).map((stage) =>
          table.latency(stage, ({ stages }) => stages.find((one) => one.stage === stage)?.latency),
        ),
      ],
    },
    {
      title: 'Mean occupancy',
      rows: names(({ buffers }) => buffers.map(({ buffer }) => buffer)).map((name) => table.occupancy(name)),
    },
    {
      title: 'Counters per cycle',
      rows: names(({ counters }) => counters.map(({ counter }) => counter)).map((name) =>
        table.rate(name, ({ counters }) => counters.find(({ counter }) => counter === name)?.perCycle),
      ),
    },
  ];
  return groups.filter(({ rows }) => rows.length > 0);
}

const shareOf = (reasons: CoreReport['stalls']['reasons'], name: string): number =>
  reasons.find(({ reason }) => reason === name)?.share ?? 0;
const perKilo = (reasons: CoreReport['flushes']['reasons'], name: string): number =>
  reasons.find(({ reason }) => reason === name)?.perKiloInstructions ?? 0;

class Table {
  constructor(
    private readonly range: CoreReport | null,
    private readonly run: CoreReport | null,
  ) {}

  /** How many there are is not a difference: the run is longer. */
  count(name: string, pick: Pick): FigureRow {
    return { ...this.row(name, pick, countText), difference: 0 };
  }

  rate(name: string, pick: Pick): FigureRow {
    return this.row(name, pick, rateText);
  }

  share(name: string, pick: Pick): FigureRow {
    return this.row(name, pick, shareText);
  }

  occupancy(name: string): FigureRow {
    const of = (report: CoreReport) => report.buffers.find(({ buffer }) => buffer === name);
    const row = this.rate(name, (report) => of(report)?.mean);
    const slots = [this.range, this.run]
      .map((report) => (report ? of(report)?.slots : undefined))
      .find(Boolean);
    return slots === undefined ? row : { ...row, name: `${name} (of ${slots})` };
  }

  latency(name: string, pick: (report: CoreReport) => Distribution | undefined): FigureRow {
    const shown = (report: CoreReport | null): string => {
      const found = report ? pick(report) : undefined;
      if (!report) return '';
      return found?.count ? [found.median, found.p90, found.p99].map(countText).join(' · ') : '–';
    };
    const row = this.row(name, (report) => pick(report)?.mean, rateText);
    return { ...row, range: shown(this.range), run: shown(this.run) };
  }

  private row(name: string, pick: Pick, text: (value: number | null | undefined) => string): FigureRow {
    const [range, run] = [this.range, this.run].map((report) => (report ? pick(report) : undefined));
    const isComparable = typeof range === 'number' && typeof run === 'number' && (range !== 0 || run !== 0);
    return {
      name,
      range: this.range ? text(range) : '',
      run: this.run ? text(run) : '',
      difference: isComparable ? (range - run) / Math.max(Math.abs(range), Math.abs(run)) : 0,
      change: isComparable && run !== 0 ? (range - run) / Math.abs(run) : 0,
    };
  }
}
