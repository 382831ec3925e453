/** The trace summary of a finalized trace (§6), and its levels (§10). */
import { UscopeError } from '../base/errors.js';
import { type SectionEntry, SectionType } from '../format/section-table.js';
import { decodeTraceSummary, type MipmapLevel, type TraceSummary } from '../format/tsum.js';
import { findSection, readSection } from './index-loader.js';
import type { CheckedSource } from './source.js';

/** One level of the summary (§6): density and counters, each as far as it has that level. */
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

/** null when no section is one. @throws UscopeError FORMAT_* for damage */
export async function readSummary(
  source: CheckedSource,
  sections: readonly SectionEntry[],
): Promise<TraceSummary | null> {
  const section = findSection(sections, SectionType.COUNTER_SUMMARY);
  if (!section) return null;
  const bytes = await readSection(source, section, 'the trace summary');
  return decodeTraceSummary(bytes, Number(section.offset));
}

/** Number of levels; 0 without a summary. */
export function countLevels(summary: TraceSummary | null): number {
  if (!summary) return 0;
  return Math.max(summary.density.length, ...summary.counters.map((counter) => counter.levels.length));
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
