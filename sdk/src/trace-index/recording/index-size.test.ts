/** What an index takes of a trace, containers and directory together: at most 5 %, of large segments 3 %. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { writePipeline } from '../../../../test/support/written-pipeline.js';
import { openTraceFile } from '../../reader/node.js';
import { openIndex } from '../questions/open-index.js';
import { createSegmentIndexer } from './segment-indexer.js';

// Each trace is written with and without an index.
limitOfFile(MANY_CASES_MS);

const INSTRUCTIONS = 40_000;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-index-size-'));
});
afterAll(() => rm(directory, { recursive: true }));

it.each([
  [24, 15_000, 5],
  [100, 70_000, 3],
])('of segments of about %i kB', async (kilobytes, segmentCycles, percent) => {
  const [path, without] = [
    join(directory, `${kilobytes}.uscope`),
    join(directory, `${kilobytes}-without.uscope`),
  ];
  await writePipeline({ path, index: createSegmentIndexer, segmentCycles }, INSTRUCTIONS);
  await writePipeline({ path: without, index: null, segmentCycles }, INSTRUCTIONS);
  const [indexed, plain] = [(await stat(path)).size, (await stat(without)).size];
  const trace = await openTraceFile(path);
  const perSegment = plain / trace.segmentCount / 1024;
  expect([perSegment > kilobytes / 2, perSegment < kilobytes * 2, perSegment]).toEqual([
    true,
    true,
    perSegment,
  ]);
  expect(((indexed - plain) / plain) * 100).toBeLessThanOrEqual(percent);
  // It has not got that small by having nothing.
  const index = (await openIndex(trace))!;
  expect([index.origin, (await index.rowLevels(0)).length > 1]).toEqual(['trace', true]);
  // The last segment is short: it may have no room for its rows, and of the segment before it a group was in flight.
  const row = await index.birthsBefore(0, trace.segmentCount - 2);
  expect([row > INSTRUCTIONS * 0.8, await index.retiredBefore(0, row)]).toEqual([true, row]);
  await trace.close();
});
