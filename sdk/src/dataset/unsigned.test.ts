import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-unsigned-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const LARGE = 2n ** 64n - 3n;
const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
storages:
  hits: counter
  queue: {slots: 2, kind: sparse, fields: {data: u64, level: i64, count: u32}}
events:
  go: {address: u64, offset: i64, kind: u8}
`;

async function writeRun(run: string, events: readonly bigint[]): Promise<string> {
  const { schema } = parseSchema(SCHEMA);
  mkdirSync(join(directory, run));
  const writer = await TraceWriter.create({ path: join(directory, run, 'core0.uscope'), schema });
  for (const [index, address] of events.entries()) {
    writer.beginCycle(index * 1000);
    writer.event('go', { address, offset: -5n, kind: 7 });
    writer.slotSet('queue', 1, 'data', address);
    writer.slotSet('queue', 1, 'level', -6n);
    writer.slotSet('queue', 1, 'count', 8);
    writer.endCycle();
  }
  await writer.close();
  return join(directory, run);
}

it('the tables of the schema unsigned show what has no sign as it is, of runs and of joined files', async () => {
  const dataset = join(directory, 'dataset');
  for (const [run, events] of [
    ['a', [LARGE, 1n]],
    ['b', [2n]],
    ['c', [LARGE - 1n]],
  ] as const)
    expect((await runUscope(['export', await writeRun(run, events), '-o', dataset])).err).toBe('');
  const check = async (): Promise<void> => {
    const { ask, close } = await questions(dataset);
    const go = 'select address, "offset_", kind from';
    expect(await ask(`${go} unsigned.events order by run, cycle`)).toEqual(
      [LARGE, 1n, 2n, LARGE - 1n].map((address) => [address, -5n, 7n]),
    );
    expect(await ask(`${go} events order by run, cycle`)).toEqual(
      [-3n, 1n, 2n, -4n].map((address) => [address, -5n, 7n]),
    );
    expect(await ask('select max(data), min(level), max(count) from "unsigned".slots')).toEqual([
      [LARGE, -6n, 8n],
    ]);
    expect(
      await ask(
        'select u.data, s.data from unsigned.slots u join slots s using (run, from_cycle) order by 1 desc limit 1',
      ),
    ).toEqual([[LARGE, -3n]]);
    expect(
      await ask(
        "select column_type from (describe unsigned.counters) where column_name in ('delta', 'value') order by 1",
      ),
    ).toEqual([['BIGINT'], ['UBIGINT']]);
    expect(await ask('select count(pc) from unsigned.instructions')).toEqual([[0n]]);
    await close();
  };
  await check();
  expect((await runUscope(['dataset', 'compact', dataset])).err).toBe('');
  await check();
});
