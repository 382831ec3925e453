/** Logs of coarse clocks: checkpoints are as far apart as the data needs, in every format that has times. A segment for each frame would be slow and large. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contextOf } from '../../../test/support/foreign.js';
import { PLAIN_FILES, PLAIN_MAP } from '../../../test/support/plain-files.js';
import { memorySource } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { formatNamed } from './sniff.js';

const STEPS = 500;
const MS = 1_000_000_000;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-sparse-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each<[name: string, options: Record<string, string>]>([
  ['konata', { period: '1ms' }],
  ['gem5', {}],
  ['ftr', {}],
  ['ctrace', { period: '1ms' }],
  ['flux', {}],
  ['vcd', { map: 'map.yaml' }],
])('%s: a clock of 1 ms has few segments', async (name, options) => {
  writeFileSync(join(directory, 'map.yaml'), PLAIN_MAP);
  const bytes = await PLAIN_FILES[name]!(STEPS, MS);
  const given = options.map === undefined ? options : { map: join(directory, options.map) };
  const context = contextOf(given);
  const foreign = await (await formatNamed(name)).open!(memorySource(bytes, name), context.options);
  const path = join(directory, `${name}.uscope`);
  await foreign.toUscope({ path }, context);
  const trace = await openTraceFile(path);
  expect(trace.totalTimePs).toBeGreaterThanOrEqual(BigInt(STEPS - 1) * BigInt(MS));
  expect(trace.segmentCount).toBe(1);
  await trace.close();
});
