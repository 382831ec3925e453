import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../../../test/support/build-trace.js';
import { modelSchema, runModel, STAGES } from '../../../../../test/support/pipeline-model.js';
import { memorySource, openTrace } from '../../../reader/index.js';
import { analyzePerformance } from './analyze.js';
import { comparedTables, figureTables } from './figures.js';
import type { CoreReport } from './report.js';

let core: CoreReport;

beforeAll(async () => {
  let state = 11;
  const model = runModel((below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  }, 1000);
  const { frames, strings } = model;
  const { bytes } = new TraceBuilder({
    schema: modelSchema(),
    dut: [
      ['cpu.isa', 'RV32I'],
      ['cpu.pipeline_stages', STAGES.join(',')],
    ],
  })
    .segment({ frames, strings })
    .finalize();
  core = (await analyzePerformance(await openTrace(memorySource(bytes)))).cores[0]!;
});

describe('the tables of figures', () => {
  it('have as many figures in each row as columns, and names that tell the rows apart', () => {
    const tables = figureTables(core);
    expect(tables.length).toBeGreaterThan(6);
    for (const { key, rows } of tables) {
      const [first] = rows;
      if (key !== 'overview')
        for (const { figures } of rows)
          expect(figures.map(({ name }) => name)).toEqual(first!.figures.map(({ name }) => name));
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    }
    const compared = tables.flatMap(({ rows }) =>
      rows.flatMap((row) => row.compared.map(({ name }) => name)),
    );
    expect(new Set(compared).size).toBe(compared.length);
  });

  it.each(['cli/stats/text.ts', 'cli/stats/sections.ts', '../../viewer/src/model/statistics-rows.ts'])(
    'are named nowhere else: %s',
    (file) => {
      const source = readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8');
      const [overview, ...others] = figureTables(core);
      const names = overview!.rows.flatMap(({ name, compared }) => [
        name,
        ...compared.map((one) => one.name),
      ]);
      const titles = others.map(({ title }) => title);
      // Single words are names of plots, too.
      for (const name of [...names, ...titles].filter((one) => one.includes(' ')))
        expect(source).not.toMatch(new RegExp(`['"\`]${name}['"\`]`));
    },
  );
});

describe('figures that are compared', () => {
  const valuesOf = (reports: readonly (CoreReport | null)[], wanted: string) =>
    comparedTables(reports)
      .flatMap(({ figures }) => figures)
      .find(({ name }) => name === wanted)?.values;

  it('stand side by side', () => {
    const other = { ...core, instructions: { ...core.instructions, ipc: 0.5 } };
    expect(valuesOf([core, other], 'IPC')).toEqual([core.instructions.ipc, 0.5]);
  });

  it('are 0 for a reason that a report does not have, and not known for a buffer', () => {
    const bare = { ...core, stalls: { ...core.stalls, reasons: [] }, buffers: [] };
    const [{ reason, share }] = core.stalls.reasons as [CoreReport['stalls']['reasons'][number]];
    const [{ buffer, mean }] = core.buffers as [CoreReport['buffers'][number]];
    expect(valuesOf([core, bare], `stalled by ${reason}`)).toEqual([share, 0]);
    expect(valuesOf([bare, core], `occupied in ${buffer}`)).toEqual([null, mean]);
  });

  it('are not known of a report that is not there', () => {
    expect(valuesOf([null, core], 'retired')).toEqual([null, core.instructions.retired]);
    expect(comparedTables([null, null])).toEqual([]);
  });
});
