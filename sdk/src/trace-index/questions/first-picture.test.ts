/** What the first picture of a long trace takes from a web server. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { type RangeServer, startRangeServer } from '../../../../test/support/range-server.js';
import { PIPELINE_STEP, writePipeline } from '../../../../test/support/written-pipeline.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { ChannelKind } from '../channels.js';
import { createSegmentIndexer } from '../recording/segment-indexer.js';
import { openIndex } from './open-index.js';

// A trace of 600,000 cycles is written first.
limitOfFile(MANY_CASES_MS);

const INSTRUCTIONS = 30_000;
const SEGMENT_CYCLES = 500;
const RETIRED = { kind: ChannelKind.RETIRED, name: 'core0' } as const;
const STALLS = { kind: ChannelKind.STALLS, name: 'core0' } as const;
const QUEUE = { kind: ChannelKind.OCCUPANCY, name: 'core0/queue' } as const;
const DONE = { kind: ChannelKind.DELTA, name: 'core0/done' } as const;

let directory: string;
let server: RangeServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-picture-'));
  const path = join(directory, 'long.uscope');
  await writePipeline({ path, index: createSegmentIndexer, segmentCycles: SEGMENT_CYCLES }, INSTRUCTIONS);
  server = await startRangeServer(await readFile(path));
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

it('is 4 requests and 512 kB at most, of a trace of a thousand segments', async () => {
  const source = await openSource(server.url);
  server.reset();
  const { openTrace } = await import('../../reader/index.js');
  const { nodeCodec } = await import('../../reader/node.js');
  const trace = await openTrace(source, { codec: nodeCodec });
  const index = (await openIndex(trace))!;
  const picture = await index.series([RETIRED, STALLS, QUEUE, DONE], { intervals: 1200, quick: true });
  expect([server.requests.length <= 4, server.requests]).toEqual([true, server.requests]);
  expect(server.sent).toBeLessThanOrEqual(512 * 1024);
  // It is the whole trace, and would not have fitted otherwise.
  expect([index.origin, trace.segmentCount > 1_100, server.bytes.length > 4 * server.sent]).toEqual([
    'trace',
    true,
    true,
  ]);
  const [retired, stalls] = picture.channels.map(({ columns }) => columns[0]!.values.reduce((a, b) => a + b));
  expect([picture.length > 100, picture.isExact, retired, stalls]).toEqual([
    true,
    true,
    INSTRUCTIONS - 16,
    Math.ceil(INSTRUCTIONS / 11),
  ]);
  expect(picture.fromCycle + picture.length * picture.intervalCycles).toBeGreaterThanOrEqual(
    (INSTRUCTIONS - 1) * PIPELINE_STEP,
  );
  await trace.close();
});

it('has the numbers that all of the file gives', async () => {
  const wanted = [RETIRED, STALLS, QUEUE, DONE] as const;
  const remote = await openTraceFile(server.url);
  const local = await openTraceFile(join(directory, 'long.uscope'));
  const ask = async (trace: typeof remote) =>
    (await (await openIndex(trace))!.series(wanted, { intervals: 300 })).channels.map(
      ({ columns }) => columns,
    );
  expect(await ask(remote)).toEqual(await ask(local));
  await Promise.all([remote.close(), local.close()]);
});
