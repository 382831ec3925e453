/** The short form of power.mjs, on the sources. */
import { describe, expect, it } from 'vitest';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { recoverTrace } from '../../sdk/src/tools/recover/index.js';
import { RecordWriter, resumeTrace } from '../../sdk/src/writer/index.js';
import { RecordBatch } from '../../sdk/src/writer/records/record-batch.js';
import { createCpuSummarizer } from '../../sdk/src/writer/summary/cpu-summarizer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { powerTorture } from './power.mjs';
import { crashes, PowerDisk } from './power-disk.mjs';

// The disk is tried in hundreds of states.
limitOfFile(PROCESSES_MS);

const library = {
  RecordWriter,
  RecordBatch,
  resumeTrace,
  openTrace,
  memorySource,
  recoverTrace,
  createCpuSummarizer,
};

describe('a disk that loses power', () => {
  it('keeps what was synced, and of the rest any mixture of sectors', async () => {
    const disk = new PowerDisk();
    const file = await disk.open('x');
    await file.write([new Uint8Array(600).fill(1)], 0);
    await file.sync();
    await file.write([new Uint8Array(1000).fill(2)], 100);
    const found = [...crashes(disk, { random: 0, choose: () => 0 })].filter(({ created }) => created);
    const summary = found.map(({ name, image }) => [
      name,
      image.length,
      image[99],
      image[100],
      image[512],
      image[1099],
    ]);
    expect(summary).toEqual([
      ['write 1: dropped with all before it', 600, 1, 1, 1, undefined],
      ['write 1: there with all before it', 1100, 1, 2, 2, 2],
      ['write 1: missing, all before it there', 600, 1, 1, 1, undefined],
      ['write 1: there, all before it missing', 1100, 1, 2, 2, 2],
      ['write 1: torn before sector 1', 600, 1, 2, 1, undefined],
      ['write 1: torn up to sector 1', 1100, 1, 1, 2, 2],
      ['write 1: torn before sector 2', 1024, 1, 2, 2, undefined],
      ['write 1: torn up to sector 2', 1100, 1, 1, 1, 2],
    ]);
  });

  it('at any write of a session loses nothing that was acknowledged, and recover makes whole what is left', async () => {
    const result = await powerTorture({ library, segments: 6, random: 2, seed: 7, recoverEvery: 4, jobs: 4 });
    expect(result.problems).toEqual([]);
    expect(result.segments).toBeGreaterThanOrEqual(6);
    expect(result.crashes).toBeGreaterThan(150);
    expect(result.recovered).toBeGreaterThan(40);
    expect(result.resumed).toBeGreaterThan(0);
  });

  it('would be noticed by this test if a writer acknowledged before its sync', async () => {
    class Hasty extends RecordWriter {}
    const create: typeof RecordWriter.create = (options) =>
      RecordWriter.create({
        ...options,
        openOutput: async (path, mode) => {
          const file = await options.openOutput!(path, mode);
          let synced = false;
          const sync = async (): Promise<void> => {
            if (!synced) await file.sync(); // that of the creation
            synced = true;
          };
          return { ...file, sync };
        },
      });
    Object.assign(Hasty, { create });
    const result = await powerTorture({
      library: { ...library, RecordWriter: Hasty },
      segments: 3,
      random: 0,
      seed: 7,
      recoverEvery: 1e9,
    });
    expect(result.problems.join('\n')).not.toBe('');
  });
});
