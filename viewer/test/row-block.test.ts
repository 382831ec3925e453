/** What the picture is made from, against the trace. */

import * as cpu from 'uscope/cpu';
import { memorySource, openTrace } from 'uscope/reader';
import { expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../test/support/build-trace.js';
import { event, modelSchema, PERIOD_PS, STAGES } from '../../test/support/pipeline-model.js';
import { toRowBlock } from '../src/data/row-block.js';
import { stageSpans } from '../src/model/row.js';

it('an instruction that has left its stage for none has no box until the next one', async () => {
  const schema = modelSchema();
  const none = { name: cpu.NO_STAGE_LABEL, value: STAGES.length };
  const enums = schema.enums.map((one) =>
    one.values[0]?.name === STAGES[0] ? { ...one, values: [...one.values, none] } : one,
  );
  const enters = (stage: number) => event(0, 0, 0, 0, 0, stage);
  const at = (cycle: number, ...items: Parameters<typeof frame>[1][]) => frame(cycle * PERIOD_PS, ...items);
  const frames = [
    at(0, set(0, 0, 0, 0), enters(0)),
    at(2, enters(none.value)),
    at(5, enters(2)),
    at(6, enters(none.value)),
    at(9, clear(0, 0)),
  ];
  const dut: [string, string][] = [['cpu.pipeline_stages', STAGES.join(',')]];
  const bytes = new TraceBuilder({ schema: { ...schema, enums }, dut })
    .segment({ frames })
    .finalize({}).bytes;
  const trace = await openTrace(memorySource(bytes));
  const core = cpu.findCore(trace);
  const block = await cpu.blockOf(trace, core, 0);
  const rows = await toRowBlock(trace, core, block!, [], 0, BigInt(PERIOD_PS), 0n);
  const spans = stageSpans(rows, 0);
  expect(spans).toEqual([
    { stage: 0, from: 0, to: 2 },
    { stage: 2, from: 5, to: 6 },
  ]);
  expect(rows.end[0]).toBe(9);
  await trace.close();
});
