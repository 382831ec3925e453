/** Within a limit of addresses that leaves no room for a memory of WebAssembly, a verb says so with a code; with Node's flag it works. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, frame, set, stage, TraceBuilder } from '../support/build-trace.js';
import { stride } from '../support/effort.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, type Ended, Running } from '../support/processes.js';
import { argumentsFor, READERS } from '../support/reading-verbs.js';

limitOfFile(PROCESSES_MS);

const FLAG = '--disable-wasm-trap-handler';
const FILE = 'a.uscope';
let directory: string;

beforeAll(async () => {
  await buildSdk();
  directory = await mkdtemp(join(tmpdir(), 'uscope-addresses-'));
  const { bytes } = new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
    .segment({ frames: [frame(0, set(0, 1, 0, 1), stage(1, 0)), frame(5000, stage(1, 1))] })
    .finalize();
  await writeFile(join(directory, FILE), bytes);
});
afterAll(() => rm(directory, { recursive: true }));

function limited(verb: string, ...flags: string[]): Promise<Ended> {
  const command = [process.execPath, ...flags, BIN, ...argumentsFor(verb, FILE)];
  const args = ['-c', 'ulimit -v 4000000; exec "$@"', 'sh', ...command];
  return new Running('sh', args, { cwd: directory }).ended;
}

// A browser has its own limits, and the engine of SQL too.
const readers = Object.keys(READERS).filter((verb) => !['view', 'sql', 'dataset'].includes(verb));
const verbs = readers.filter((_, index) => index % stride(2) === 0);

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('4 GB of addresses', () => {
  it.each(verbs)('%s', async (verb) => {
    const { signal, stdout, stderr } = await limited(verb);
    expect(signal).toBeNull();
    expect(stdout + stderr).not.toMatch(/unexpected failure|^ +at /m);
    if (/ENV_/.test(stderr)) expect(stderr).toMatch(new RegExp(`ENV_MEMORY: .*4\\.1 GB.*${FLAG}`));
  });

  it('the verbs that follow instructions name the limit and the flag, with which they work', async () => {
    for (const verb of ['stats', 'timeline', 'buffers']) {
      expect((await limited(verb)).stderr).toMatch(/ENV_MEMORY/);
      expect([verb, (await limited(verb, FLAG)).status]).toEqual([verb, 0]);
    }
  });
});
