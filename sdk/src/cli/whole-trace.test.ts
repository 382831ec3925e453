/** What `stats`, `buffers` and `counters` print from the index of a trace is what they print with `--exact`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { indexedTrace } from '../../../test/support/indexed-trace.js';
import { dut, generator, record, schemaWithBuffer } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

const CYCLES = 6_000;
const PER_SEGMENT = 800;
let directory: string;
let path: string;
const run = (...args: string[]) => runUscope(args);

async function made(name: string, directoryBytes?: (bytes: Uint8Array) => Uint8Array): Promise<string> {
  const { frames } = record(generator(7), CYCLES);
  const segments = Array.from({ length: Math.ceil(frames.length / PER_SEGMENT) }, (_, at) => ({
    frames: frames.slice(at * PER_SEGMENT, (at + 1) * PER_SEGMENT),
  }));
  const { bytes } = await indexedTrace({
    schema: schemaWithBuffer(),
    dut: [...dut, ['cpu.isa', 'RV32IMAC']],
    segments,
    directory: directoryBytes,
  });
  const file = join(directory, name);
  await writeFile(file, bytes);
  return file;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-whole-'));
  path = await made('a.uscope');
});
afterAll(() => rm(directory, { recursive: true }));

it.each([
  ['stats', '--points', '4'],
  ['stats', '--points', '4', '--html', '-'],
  ['buffers', '--series', '4'],
  ['counters', '--series', '4'],
  ['counters', '--series', '3', '--cycles', '700:5500'],
])('%s %s %s %s', async (verb, ...options) => {
  const form = options.includes('--html') ? [] : ['--json'];
  const found = await run(verb, path, ...options, ...form);
  const scanned = await run(verb, path, '--exact', ...options, ...form);
  expect([found.status, found.err, scanned.status]).toEqual([0, '', 0]);
  expect(found.out.replaceAll('"source": "index"', '"source": "replay"')).toBe(scanned.out);
  expect(found.out.length).toBeGreaterThan(200);
});

it('says where the numbers of counters come from', async () => {
  const source = async (...options: string[]) =>
    JSON.parse((await run('counters', path, '--json', ...options)).out).counters[0].source;
  expect(await source('--series', '4')).toBe('index');
  expect(await source('--series', '4', '--exact')).toBe('replay');
  expect(await source('--series', '400')).toBe('replay');
  expect(await source('--series', '4', '--per-cycle')).toBe('replay');
  expect(await source()).toBe('states');
});

it('answers the same where the index is damaged, and warns', async () => {
  const damaged = await made('damaged.uscope', (bytes) =>
    bytes.map((byte, at) => (at % 64 ? byte : byte ^ 4)),
  );
  for (const [verb, option] of [
    ['counters', '--series'],
    ['buffers', '--series'],
    ['stats', '--points'],
  ]) {
    const intact = await run(verb!, path, option!, '4');
    const found = await run(verb!, damaged, option!, '4');
    expect([found.status, found.err]).toEqual([0, expect.stringContaining('index is not used')]);
    expect(found.out.replaceAll('damaged.uscope', 'a.uscope')).toBe(intact.out);
  }
});
