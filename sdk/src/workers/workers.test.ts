/** Threads of Node that read a trace: their answers are those of one reader in this thread. */
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { add, coreSchema, frame, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { memorySource, openTrace } from '../reader/index.js';
import { stateColumns } from '../reader/state-columns.js';
import { analyzePerformance, findCore } from '../semantics/cpu/index.js';
import { counters } from '../semantics/storages/counters.js';
import { occupancy } from '../semantics/storages/occupancy.js';
import { openWorkers, type WorkerPool } from './index.js';

// Threads answer.
limitOfFile(THREADS_MS);

const { frames } = record(generator(7), 400);
const bytes = build(frames, 20);
let directory: string;
let path: string;
let workers: WorkerPool;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-workers-'));
  path = join(directory, 'trace.uscope');
  await writeFile(path, bytes);
  workers = await openWorkers(path, { threads: 2 });
});
afterAll(async () => {
  workers?.close();
  await rm(directory, { recursive: true, force: true });
});

const own = () => openTrace(memorySource(bytes));

describe('threads over a trace', () => {
  it('answer what a reader answers', async () => {
    const trace = await own();
    const core = findCore(trace);
    const range = { from: 20, to: 300, unit: 'cycles', points: 9 } as const;
    expect(await workers.request('info', null)).toMatchObject({
      schema: trace.schema,
      segments: trace.segmentCount,
    });
    expect(await workers.request('state', { timePs: 70_000n })).toEqual(
      stateColumns(await trace.stateAt(70_000n)),
    );
    expect(await workers.request('counters', { ...range, core: core.name })).toEqual(
      await counters(trace, { ...range, core }),
    );
    expect(await workers.request('occupancy', { ...range, core: core.name })).toEqual(
      await occupancy(trace, { ...range, core }),
    );
  });

  it('analyse performance, and say how far they are', async () => {
    const trace = await own();
    const core = findCore(trace).name;
    const shares: number[] = [];
    const progress = (share: number) => shares.push(share);
    const range = { from: 20, unit: 'cycles', cores: [core] } as const;
    expect(await workers.request('performance', range, { progress })).toEqual(
      await analyzePerformance(trace, range),
    );
    expect(shares.length).toBeGreaterThan(5);
  });

  it('tell errors with their codes', async () => {
    await expect(workers.request('counters', { core: 'nobody' })).rejects.toMatchObject({
      code: 'READER_NAME',
    });
    await expect(openWorkers(join(directory, 'missing'), { threads: 1 })).rejects.toMatchObject({
      code: 'READER_OPEN',
      place: { file: join(directory, 'missing') },
    });
  });

  it('read bytes as well, which every thread sees', async () => {
    const pool = await openWorkers(bytes.slice(), { threads: 2 });
    const times = [1000n, 90_000n];
    const asked = times.map((timePs) => pool.request('state', { timePs }));
    const trace = await own();
    const expected = await Promise.all(times.map((timePs) => trace.stateAt(timePs)));
    expect(await Promise.all(asked)).toEqual(expected.map((state) => stateColumns(state)));
    pool.close();
  });

  it('stop what is cancelled and go on with the next', async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, progress: () => controller.abort(new Error('enough')) };
    const long = workers.request('occupancy', { points: 3 }, options);
    await expect(long).rejects.toThrow('enough');
    expect(await workers.request('state', { timePs: 5000n })).toMatchObject({ timePs: 5000n });
  });

  it('follow a live trace: subscribers hear of new segments, and answers know them', async () => {
    const live = join(directory, 'live.uscope');
    const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
    const segment = (n: number) =>
      builder.segment({
        frames: Array.from({ length: 10 }, (_, i) => frame(n * 10_000 + i * 1000, add(3, 0, 0, 1))),
      });
    await writeFile(live, segment(0).bytes);
    const pool = await openWorkers(live, { threads: 2 });
    const heard = new Promise((resolve, reject) => {
      pool.subscribe({ grown: resolve, failed: reject }, 5);
    });
    // In place, as a writer does: a file that is written anew is empty for a moment.
    const file = await open(live, 'r+');
    await file.write(segment(1).bytes, 0, null, 0);
    await file.close();
    expect(await heard).toMatchObject({ newSegments: 1, segments: 2, finalized: false });
    const columns = await Promise.all([
      pool.request('state', { timePs: 15_000n, storages: [3] }),
      pool.request('state', { timePs: 18_000n, storages: [3] }),
    ]);
    expect(columns.map(({ storages }) => storages[0]!.fields[0]![0])).toEqual([16n, 19n]);
    pool.close();
  });
});
