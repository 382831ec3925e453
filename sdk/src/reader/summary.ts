/** The trace summary of a finalized trace (docs/reference/format.md#trace-summary), and its levels (docs/reference/format.md#names-of-calls). */
import { maxOf } from '../base/arrays.js';
import { UscopeError } from '../base/errors.js';
import { type SectionEntry, SectionType } from '../format/section-table.js';
import {
  DENSITY_HEAD_SIZE,
  decodeDensityHead,
  decodeDensityLevel,
  decodeTraceSummary,
  type MipmapLevel,
  type TraceSummary,
} from '../format/tsum.js';
import { findSection, readSection } from './index-loader.js';
import type { CheckedSource } from './source.js';

/** One level of the summary (docs/reference/format.md#trace-summary): density and counters, each as far as it has that level. */
export interface SummaryLevel {
  /** Cycles per bucket. */
  readonly intervalCycles: bigint;
  /** Instructions per bucket; empty when the level has none. */
  readonly density: Uint32Array;
  readonly counters: readonly {
    readonly name: string;
    readonly storageId: number;
    readonly level: MipmapLevel;
  }[];
}

/** The summary, which many questions begin with, and which takes megabytes to read. */
export class SummaryCache {
  private known: Promise<TraceSummary | null> | null = null;

  /** @param maxBytes a larger summary is read again each time */
  constructor(
    private readonly source: CheckedSource,
    private readonly maxBytes: number,
  ) {}

  /** null when no section is one. @throws UscopeError FORMAT_* for damage */
  read(sections: readonly SectionEntry[]): Promise<TraceSummary | null> {
    if (this.known) return this.known;
    const reading = readSummary(this.source, sections);
    const section = findSection(sections, SectionType.COUNTER_SUMMARY);
    if (section && Number(section.size) > this.maxBytes) return reading;
    this.known = reading;
    // What failed may be tried again.
    reading.catch(() => {
      if (this.known === reading) this.known = null;
    });
    return reading;
  }

  /** The sections are others now. */
  forget(): void {
    this.known = null;
  }
}

async function readSummary(
  source: CheckedSource,
  sections: readonly SectionEntry[],
): Promise<TraceSummary | null> {
  const section = findSection(sections, SectionType.COUNTER_SUMMARY);
  if (!section) return null;
  const bytes = await readSection(source, section, 'the trace summary');
  return decodeTraceSummary(bytes, Number(section.offset));
}

/** Instructions over time, as finely as the summary has them. */
export interface Density {
  /** Cycles per bucket. */
  readonly intervalCycles: number;
  readonly births: Uint32Array;
}

/**
 * The finest density alone: a summary has megabytes of counters besides. null when there is no summary.
 * @throws UscopeError FORMAT_* for damage
 */
export async function readDensity(
  source: CheckedSource,
  sections: readonly SectionEntry[],
): Promise<Density | null> {
  const section = findSection(sections, SectionType.COUNTER_SUMMARY);
  if (!section) return null;
  const [start, size] = [Number(section.offset), Number(section.size)];
  const what = 'the trace summary';
  const head = await source.exactly(start, Math.min(size, DENSITY_HEAD_SIZE), what);
  const { baseIntervalCycles, length } = decodeDensityHead(head, start);
  const bytes = length * 4;
  if (DENSITY_HEAD_SIZE + bytes > size && length > 0) {
    const detail = `the density of ${length} entries does not fit the trace summary of ${size} bytes`;
    throw new UscopeError('FORMAT_TRUNCATED', detail, { offset: start });
  }
  const level =
    length === 0 ? new Uint8Array(0) : await source.exactly(start + DENSITY_HEAD_SIZE, bytes, what);
  return { intervalCycles: baseIntervalCycles, births: decodeDensityLevel(level) };
}

/** Number of levels; 0 without a summary. */
export function countLevels(summary: TraceSummary | null): number {
  if (!summary) return 0;
  return maxOf(
    summary.counters.map((counter) => counter.levels.length),
    summary.density.length,
  );
}

/** Level 0 is the finest. @throws UscopeError READER_RANGE for a level that does not exist */
export function summaryLevel(summary: TraceSummary | null, level: number): SummaryLevel {
  const levels = countLevels(summary);
  if (!summary || !Number.isInteger(level) || level < 0 || level >= levels) {
    throw new UscopeError('READER_RANGE', `the summary has ${levels} levels, there is no level ${level}`);
  }
  return {
    intervalCycles: BigInt(summary.baseIntervalCycles) * BigInt(summary.fanOut) ** BigInt(level),
    density: summary.density[level] ?? new Uint32Array(0),
    counters: summary.counters
      .filter((counter) => level < counter.levels.length)
      .map(({ name, storageId, levels: all }) => ({ name, storageId, level: all[level] })),
  };
}
