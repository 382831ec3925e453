/** Every command that writes a trace writes its index: what the index of the output says is what the whole input has. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { openTraceFile } from '../reader/node.js';
import { instructions } from '../semantics/instructions/instructions.js';
import { openIndex } from '../trace-index/index.js';

// Traces are written and read again by several commands.
limitOfFile(MANY_CASES_MS);

const CYCLES = 3000;
let directory: string;
const at = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-index-outputs-'));
  const bytes = build(record(generator(5), CYCLES).frames, 200);
  await writeFile(at('a.uscope'), bytes);
  await writeFile(at('cut.uscope'), bytes.subarray(0, Math.floor(bytes.length * 0.6)));
  expect(await runUscope(['convert', at('a.uscope'), '-o', at('a.konata')])).toMatchObject({ status: 0 });
});
afterAll(() => rm(directory, { recursive: true }));

it.each([
  ['slice', 0, ['slice', 'a.uscope', '--cycles', '500:2000']],
  ['merge', 0, ['merge', 'a.uscope', 'b.uscope']],
  // The file is cut: what it had is there, and the status says so.
  ['recover', 3, ['recover', 'cut.uscope']],
  ['convert', 0, ['convert', 'a.konata']],
])('%s', async (name, status, [verb, ...args]) => {
  if (name === 'merge') await writeFile(at('b.uscope'), build(record(generator(6), CYCLES).frames, 200));
  const output = at(`${name}-out.uscope`);
  const words = args.map((word) => (/uscope$|konata$/.test(word) ? at(word) : word));
  const run = await runUscope([verb!, ...words, '-o', output]);
  expect([run.err, run.status]).toEqual([run.err, status]);
  const trace = await openTraceFile(output);
  const index = await openIndex(trace);
  expect([index?.origin, trace.warnings]).toEqual(['trace', []]);
  for (const [core, { core: described }] of index!.plan.cores.entries()) {
    let born = 0;
    for await (const { birthPs } of instructions(trace, described)) if (birthPs !== null) born++;
    expect(born).toBeGreaterThan(100);
    expect(await index!.birthsBefore(core, trace.segmentCount)).toBe(born);
  }
  await trace.close();
  // verify recomputes every container and level. The model's annotations name strings that it does not have.
  const { out } = await runUscope(['verify', output]);
  const found = out
    .split('\n')
    .filter((line) => /^(error|warning)/.test(line) && !line.includes('names string'));
  expect([found, out]).toEqual([[], expect.stringContaining('with checksum')]);
});
