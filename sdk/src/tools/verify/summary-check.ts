/** The trace summary (docs/reference/format.md#trace-summary) against the one that the frames give. */
import type { SectionEntry } from '../../format/section-table.js';
import {
  coarserSummary,
  decodeTraceSummary,
  encodeTraceSummary,
  type TraceSummary,
} from '../../format/tsum.js';
import type { CheckedSource } from '../../reader/source.js';
import type { FindingLog } from './finding.js';

/** @param expected the summary of the frames; null where they could not all be replayed, or the file is not of ours */
export async function checkSummary(
  source: CheckedSource,
  section: SectionEntry,
  expected: TraceSummary | null,
  numStorages: number,
  log: FindingLog,
): Promise<void> {
  const offset = Number(section.offset);
  try {
    const bytes = await source.exactly(offset, Number(section.size), 'the trace summary');
    const summary = decodeTraceSummary(bytes, offset);
    checkShape(summary, numStorages, offset, log);
    if (expected === null || isEmpty(summary)) return;
    // A recorder's file may have longer buckets: late in a long run most of them are of what is gone.
    let should = expected;
    while (should.baseIntervalCycles < summary.baseIntervalCycles) should = coarserSummary(should);
    if (Buffer.compare(bytes, encodeTraceSummary(should)) !== 0) {
      log.add('error', 'VERIFY_SUMMARY', offset, differenceOf(summary, should));
    }
  } catch (error) {
    log.caught(error, offset);
  }
}

/** What a writer leaves that was given no summarizer. */
function isEmpty(summary: TraceSummary): boolean {
  return summary.totalInstructions === 0n && summary.density.length === 0 && summary.counters.length === 0;
}

function checkShape(summary: TraceSummary, numStorages: number, offset: number, log: FindingLog): void {
  const { fanOut, density, counters } = summary;
  const lengths = [
    density.map((level) => level.length),
    ...counters.map(({ levels }) => levels.map((l) => l.sum.length)),
  ];
  const isPyramid = (sizes: readonly number[]): boolean =>
    sizes.every((size, i) => i === 0 || size === Math.ceil(sizes[i - 1] / fanOut));
  if (fanOut < 2 || summary.baseIntervalCycles === 0 || !lengths.every(isPyramid)) {
    log.add('error', 'VERIFY_SUMMARY', offset, 'the levels of the summary do not build on each other');
  }
  for (const { name, storageId } of counters) {
    if (storageId >= numStorages)
      log.add(
        'error',
        'FORMAT_ID',
        offset,
        `counter "${name}" is of storage ${storageId}, which is not defined`,
      );
  }
}

function differenceOf(is: TraceSummary, should: TraceSummary): string {
  if (is.totalInstructions !== should.totalInstructions) {
    return `the summary counts ${is.totalInstructions} instructions, the frames give ${should.totalInstructions}`;
  }
  const sumOf = ({ counters }: TraceSummary, name: string): bigint =>
    counters.find((counter) => counter.name === name)?.levels.at(-1)?.sum[0] ?? 0n;
  const other = should.counters.find(({ name }) => sumOf(is, name) !== sumOf(should, name));
  if (!other) return 'a bucket of the summary is not what the frames give';
  return `the summary has ${sumOf(is, other.name)} for counter "${other.name}", the frames give ${sumOf(should, other.name)}`;
}
