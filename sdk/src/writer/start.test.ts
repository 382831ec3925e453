import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cpuSchema } from '../../../test/support/schemas.js';
import { Action } from '../format/types.js';
import { openTraceFile } from '../reader/node.js';
import { StorageState } from '../state/storage-state.js';
import { TraceWriter } from './index.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-start-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a trace that does not begin with nothing at 0', () => {
  const create = (): Promise<TraceWriter> => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.SET, 1, 0, 0, 41, 0);
    const start = { timePs: 5500n, checkpoint: state.encodeCheckpoint() };
    const path = join(directory, 'a.uscope');
    return TraceWriter.create({ path, schema: cpuSchema(), checkpointIntervalPs: 1000, start });
  };

  it('has that state first, and its checkpoints on the grid', async () => {
    const writer = await create();
    for (const time of [5500, 5900, 6200]) {
      writer.beginCycle(time);
      writer.slotAdd('core0/committed_insns', 0, 'count', 1);
      writer.endCycle();
    }
    await writer.close();
    const trace = await openTraceFile(join(directory, 'a.uscope'));
    const starts = (await trace.segments()).map(({ timeStartPs }) => timeStartPs);
    expect(starts).toEqual([5500n, 6200n]);
    const counted = async (time: number): Promise<bigint> =>
      (await trace.stateAt(time)).slotField('committed_insns', 0, 'count');
    expect((await trace.stateBefore(0)).slotField('committed_insns', 0, 'count')).toBe(41n);
    expect(await Promise.all([5500, 5900, 6200].map(counted))).toEqual([42n, 43n, 44n]);
    await trace.close();
  });

  it('takes no frame from before', async () => {
    const writer = await create();
    writer.beginCycle(5499);
    writer.endCycle();
    await expect(writer.flush()).rejects.toMatchObject({ code: 'OP_TIME' });
    await writer.close().catch(() => undefined);
  });
});
