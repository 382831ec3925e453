/** A header that claims 2^32-1 segments: every verb that reads a trace refuses it, and none counts to that number. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAllVerbs } from '../../sdk/src/cli/main.js';
import { HEADER_NUM_SEGMENTS_OFFSET } from '../../sdk/src/format/header.js';
import { SectionType } from '../../sdk/src/format/section-table.js';
import { coreSchema, frame, set, stage, TraceBuilder } from '../support/build-trace.js';
import { TRIES_ALL } from '../support/effort.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, Running } from '../support/processes.js';
import { argumentsFor, OTHERS, READERS } from '../support/reading-verbs.js';

limitOfFile(PROCESSES_MS);

let directory: string;
const names = { table: 'table.uscope', chain: 'chain.uscope' } as const;

beforeAll(async () => {
  await buildSdk();
  directory = await mkdtemp(join(tmpdir(), 'uscope-claimed-'));
  const { bytes } = new TraceBuilder({ schema: coreSchema, session: null })
    .segment({ frames: [frame(0, set(0, 1, 0, 1), stage(1, 0)), frame(5000, stage(1, 1))] })
    .finalize();
  const view = new DataView(bytes.buffer);
  view.setUint32(HEADER_NUM_SEGMENTS_OFFSET, 0xffff_ffff, true);
  await writeFile(join(directory, names.table), bytes);
  // The same without a segment table: its only section gets a type that nobody knows.
  const sections = Number(view.getBigUint64(32, true));
  expect(view.getUint16(sections, true)).toBe(SectionType.SEGMENTS);
  view.setUint16(sections, 0x7fff, true);
  await writeFile(join(directory, names.chain), bytes);
});
afterAll(() => rm(directory, { recursive: true }));

it('knows of every verb whether it reads a trace', async () => {
  const verbs = (await loadAllVerbs()).commands.map((command) => command.name());
  expect([...Object.keys(READERS), ...OTHERS].sort()).toEqual(verbs.sort());
});

// Each verb reads one of the two files, or both.
describe.each([...Object.values(names).entries()])('%i: %s', (at, file) => {
  it.each(Object.keys(READERS).filter((_, verb) => TRIES_ALL || verb % 2 === at))('%s', async (verb) => {
    const process_ = new Running(process.execPath, [BIN, ...argumentsFor(verb, file)], { cwd: directory });
    const timer = setTimeout(() => process_.kill('SIGKILL'), 30_000);
    const { status, signal, stdout, stderr } = await process_.ended;
    clearTimeout(timer);
    expect(signal).toBeNull();
    expect(stdout + stderr).not.toMatch(/unexpected failure|^ +at /m);
    // What is in the file is saved: the header alone is damaged.
    if (verb === 'recover') return expect(stdout).toMatch(/^saved {3}1 segments/m);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toMatch(verb === 'dataset' ? /DATASET_/ : /FORMAT_CHAIN|VERIFY_HEADER/);
  });
});
