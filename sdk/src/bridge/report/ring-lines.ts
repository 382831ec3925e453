/** What is said about a flight recorder when its trace is over. */
import { relative } from 'node:path';
import { formatBytes, formatCount, formatTime } from '../../base/units.js';
import type { RingReport } from '../../writer/ring/index.js';

export function ringLines(ring: RingReport): string[] {
  const { expiredSegments, expiredFrames, firstTimePs, peakBytes, files, triggersWithoutFile } = ring;
  const gone = `${formatCount(expiredFrames)} frames in ${formatCount(expiredSegments)} segments let go before`;
  const lines = [
    expiredSegments > 0
      ? `flight recorder: kept from ${formatTime(firstTimePs)} on, ${gone}; at most ${formatBytes(peakBytes)} on disk`
      : `flight recorder: kept everything; at most ${formatBytes(peakBytes)} on disk`,
  ];
  for (const { path, label, timePs, bytes } of files) {
    lines.push(`trigger at ${formatTime(timePs)} (${label}): ${shortPath(path)}, ${formatBytes(bytes)}`);
  }
  if (triggersWithoutFile > 0) {
    lines.push(`${formatCount(triggersWithoutFile)} more triggers made no file (--trigger-files)`);
  }
  return lines;
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
