/** The short form of `npm run torture:power`: files, directories and names, on the sources. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, open, rename, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../sdk/src/cli/main.js';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { recoverTrace } from '../../sdk/src/tools/recover/index.js';
import { RecordWriter, resumeTrace } from '../../sdk/src/writer/index.js';
import { openNodeOutput } from '../../sdk/src/writer/output/output-file.js';
import { RecordBatch } from '../../sdk/src/writer/records/record-batch.js';
import { createRing, recoverSpool, resumeRing } from '../../sdk/src/writer/ring/index.js';
import { createCpuSummarizer } from '../../sdk/src/writer/summary/cpu-summarizer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { DiskRecorder } from './power-record.mjs';
import { powerTree, TREE_SCENARIOS } from './power-scenarios.mjs';
import { generator } from './power-trace.mjs';
import { treeCrashes } from './power-tree.mjs';

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
  createRing,
  resumeRing,
  recoverSpool,
  runCli,
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-power-tree-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What may be found after the last step of `work`: names with the first byte of their content. */
async function found(work: (at: (name: string) => string) => Promise<void>): Promise<Set<string>> {
  const disk = join(directory, 'disk');
  await mkdir(disk);
  const recorder = new DiskRecorder(disk);
  recorder.start();
  try {
    await work((name) => join(disk, name));
  } finally {
    recorder.stop();
  }
  recorder.promise('the end');
  const states = new Set<string>();
  let number = 0;
  for (const crash of treeCrashes(recorder, { seeds: 60, choose: generator(7) })) {
    if (crash.promised.length === 0) continue;
    const image = join(directory, `crash-${number++}`);
    crash.write(image);
    const names = readdirSync(image).sort();
    states.add(names.map((name) => `${name}:${readFileSync(join(image, name))[0] ?? '-'}`).join(' '));
  }
  return states;
}

async function put(path: string, byte: number, sync: boolean): Promise<void> {
  const file = await openNodeOutput(path, 'create');
  await file.write([new Uint8Array(10).fill(byte)], 0);
  if (sync) await file.sync();
  await file.close();
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}

describe('a disk with directories that loses power', () => {
  it('may forget a file whose directory was not synced, and the content of one that was not synced itself', async () => {
    const names = await found(async (at) => {
      await put(at('a'), 1, true);
      await syncDirectory(at('.'));
      await put(at('b'), 2, true);
      await put(at('c'), 3, false);
      await syncDirectory(at('.'));
      await put(at('d'), 4, true);
    });
    expect([...names].sort()).toEqual(['a:1 b:2 c:-', 'a:1 b:2 c:- d:4', 'a:1 b:2 c:3', 'a:1 b:2 c:3 d:4']);
  });

  it('has a renamed file under one of its names, and never under none', async () => {
    const names = await found(async (at) => {
      await put(at('new'), 1, true);
      await syncDirectory(at('.'));
      await rename(at('new'), at('name'));
    });
    expect([...names].sort()).toEqual(['name:1', 'new:1']);
  });

  it('keeps changes of names in any order: a name that was given again may have lost its first file', async () => {
    const names = await found(async (at) => {
      await put(at('name'), 1, true);
      await syncDirectory(at('.'));
      await rename(at('name'), at('aside'));
      await put(at('name'), 2, true);
    });
    expect([...names].sort()).toEqual(['aside:1', 'aside:1 name:2', 'name:1', 'name:2']);
  });

  it('may bring back what was removed', async () => {
    const names = await found(async (at) => {
      await put(at('a'), 1, true);
      await syncDirectory(at('.'));
      await unlink(at('a'));
    });
    expect([...names].sort()).toEqual(['', 'a:1']);
  });

  it('has no way to be changed that the log does not know', async () => {
    await expect(found((at) => writeFile(at('x'), 'x'))).rejects.toThrow(/does not know writeFile/);
  });
});

describe('at any step', () => {
  it.each(Object.keys(TREE_SCENARIOS))('%s loses nothing that was promised', async (kind) => {
    const every = kind.startsWith('recorder') ? 7 : 1;
    const result = await powerTree({ library, kind, segments: 4, seeds: 1, seed: 3, every, jobs: 4 });
    expect(result.problems).toEqual([]);
    expect(result.crashes).toBeGreaterThan(10);
  });
});
