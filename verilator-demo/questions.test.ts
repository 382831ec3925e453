/** The ready-made questions about a run of the core, each against the same number computed from what the reader gives. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportOneRun } from '../sdk/src/dataset/export-runs.js';
import { loadEngine, SqlSession, TABLES } from '../sdk/src/dataset/index.js';
import type { Trace } from '../sdk/src/reader/index.js';
import { openTraceFile } from '../sdk/src/reader/node.js';
import { type CpuCore, findCore, type Instruction } from '../sdk/src/semantics/cpu/index.js';
import { instructions } from '../sdk/src/semantics/instructions/instructions.js';
import { ElfSymbols } from '../sdk/src/semantics/program/index.js';
import { elfFile } from '../test/support/elf-file.js';
import { BUILDS_MS, limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { randomProgram } from './lib/assemble.js';
import { formatHex } from './lib/image.js';
import { RAM_BASE } from './lib/rv32im.js';
import { DEMO, TRACED } from './lib/simulator.js';

limitOfFile(PROCESSES_MS);

const ROOT = dirname(DEMO.replace(/\/$/, ''));
const CYCLE = 1000n;
const directory = mkdtempSync(join(tmpdir(), 'uscope-questions-'));
const SYMBOLS = ElfSymbols.parse(
  elfFile([
    { name: 'begin', from: RAM_BASE, type: 0 },
    { name: 'middle', from: RAM_BASE + 0x200, size: 0x400 },
    { name: 'end', from: RAM_BASE + 0x800 },
  ]),
);
let trace: Trace;
let core: CpuCore;
let all: Instruction[];
let session: SqlSession;

const cycleOf = (time: bigint | null): number => (time === null ? -1 : Number(time / CYCLE));
const address = (pc: bigint | null): string => `0x${(pc ?? 0n).toString(16)}`;

/** Rows as objects; integers as numbers. */
function rowsOf(question: string): Promise<Record<string, number | string>[]> {
  return session.ask(question, async (result) => {
    const names = result.deduplicatedColumnNames();
    const rows: Record<string, number | string>[] = [];
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) return rows;
      for (const row of chunk.getRows()) {
        const cells = row.map((cell, at) => [names[at], typeof cell === 'bigint' ? Number(cell) : cell]);
        rows.push(Object.fromEntries(cells) as Record<string, number | string>);
      }
    }
  });
}

beforeAll(async () => {
  const image = join(directory, 'program.hex');
  writeFileSync(image, formatHex(randomProgram(5, 900)));
  const simulator = [join(DEMO, TRACED, 'Vtop'), `+firmware=${image}`, '+quiet'];
  const schema = join(DEMO, 'schema.yaml');
  const run = ['run', '--schema', schema, '--out', join(directory, 'run'), '--', ...simulator];
  const { error } = spawnSync(process.execPath, [join(ROOT, 'sdk/bin/uscope.js'), ...run], {
    timeout: BUILDS_MS,
  });
  if (error) throw error;
  const file = join(directory, 'run', 'core0.uscope');
  trace = await openTraceFile(file);
  core = findCore(trace);
  all = [];
  for await (const one of instructions(trace, core, {}, { numbering: 'always' })) all.push(one);
  const dataset = join(directory, 'dataset');
  await exportOneRun(dataset, {
    run: 'r',
    files: [file],
    tables: TABLES,
    window: 1000,
    tags: {},
    replace: false,
  });
  session = await SqlSession.open(await loadEngine(), [dataset], { functions: SYMBOLS.functions });
});

afterAll(async () => {
  await session?.close();
  await trace?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Cycles from the retirement before to its own, of each retired instruction. */
function costs(): { readonly pc: bigint; readonly cost: number }[] {
  const retired = all.filter(({ end }) => end === 'retired');
  return retired.map(({ pc, endPs }, index) => ({
    pc: pc ?? -1n,
    cost: cycleOf(endPs) - (index === 0 ? -1 : cycleOf(retired[index - 1]!.endPs)),
  }));
}

describe('the ready-made questions', () => {
  it('mispredicts_by_pc: the branches that the flushed instructions follow, as the core counts them', async () => {
    const expected = new Map<string, { mispredicts: number; squashed: number }>();
    const first = new Map<bigint, { index: number; squashed: number }>();
    all.forEach(({ flush }, index) => {
      if (flush?.reason !== 'mispredict') return;
      const there = first.get(flush.timePs) ?? { index, squashed: 0 };
      first.set(flush.timePs, { ...there, squashed: there.squashed + 1 });
    });
    for (const { index, squashed } of first.values()) {
      const key = address(all[index - 1]!.pc);
      const there = expected.get(key) ?? { mispredicts: 0, squashed: 0 };
      expected.set(key, { mispredicts: there.mispredicts + 1, squashed: there.squashed + squashed });
    }
    const rows = await rowsOf('from mispredicts_by_pc(1000000)');
    expect(rows.length).toBeGreaterThan(20);
    const found = rows.map(({ address, mispredicts, squashed }) => [address, { mispredicts, squashed }]);
    expect(new Map(found as [string, { mispredicts: number; squashed: number }][])).toEqual(expected);
    const end = await trace.stateAt(trace.totalTimePs);
    const counted = Number(end.slotField('core0/mispredicts', 0, 0));
    expect(rows.reduce((sum, row) => sum + Number(row.mispredicts), 0)).toBe(counted);
    // Each of these instructions can jump.
    const texts = rows.map(({ instruction }) => String(instruction).split(' ')[0]);
    expect(texts.filter((text) => !/^(b|j|ret|c\.)/.test(text!))).toEqual([]);
  });

  it('cache_misses_by_pc: the instructions in the stages that wait', async () => {
    const expected = new Map<string, { misses: Set<bigint>; cycles: number }>();
    const { def, fields } = core.events.get('stall')!;
    const labels = fields.get('reason')!.labels!.values;
    for await (const event of trace.events(undefined, undefined, [def.eventTypeId])) {
      const value = Number(event.field('reason'));
      const reason = labels.find((label) => label.value === value)!.name;
      if (!/cache_miss/.test(reason)) continue;
      const stage = reason === 'icache_miss' ? 'fetch' : 'memory';
      const cause = all.find(({ stages, endPs }) =>
        stages.some(
          ({ name, timePs }, at) =>
            name === stage &&
            timePs <= event.timePs &&
            (stages[at + 1]?.timePs ?? endPs ?? 1n << 60n) > event.timePs,
        ),
      );
      const key = `${cause ? address(cause.pc) : null} ${reason}`;
      const there = expected.get(key) ?? { misses: new Set(), cycles: 0 };
      if (cause) there.misses.add(cause.seq ?? -1n);
      there.cycles++;
      expected.set(key, there);
    }
    expect(expected.size).toBeGreaterThan(10);
    const rows = await rowsOf('from cache_misses_by_pc(1000000)');
    const found = rows.map((row) => `${row.address} ${row.reason} ${row.misses} ${row.cycles}`);
    const wanted = [...expected].map(([key, { misses, cycles }]) => `${key} ${misses.size} ${cycles}`);
    expect(found.sort()).toEqual(wanted.sort());
  });

  it('hot_functions: retired instructions and the cycles that they cost, by the symbols of an ELF file', async () => {
    const expected = new Map<string, { retired: number; cycles: number }>();
    for (const { pc, cost } of costs()) {
      const name = String(SYMBOLS.find(pc)?.name ?? null);
      const there = expected.get(name) ?? { retired: 0, cycles: 0 };
      expected.set(name, { retired: there.retired + 1, cycles: there.cycles + cost });
    }
    expect(expected.size).toBe(4);
    const rows = await rowsOf('from hot_functions(10)');
    const found = rows.map((row) => [String(row.function), { retired: row.retired, cycles: row.cycles }]);
    expect(new Map(found as [string, { retired: number; cycles: number }][])).toEqual(expected);
    expect(rows.map(({ cycles }) => cycles)).toEqual(
      [...expected.values()].map(({ cycles }) => cycles).sort((a, b) => b - a),
    );
    expect(rows.reduce((sum, { share }) => sum + Number(share), 0)).toBeCloseTo(1, 9);
  });

  it('compare_pcs: the same costs by address', async () => {
    const rows = await rowsOf(
      "select address, cycles_b, retired_b from compare_pcs('nothing', 'r', 1000000)",
    );
    const expected = new Map<string, [number, number]>();
    for (const { pc, cost } of costs()) {
      const [cycles, retired] = expected.get(address(pc)) ?? [0, 0];
      expected.set(address(pc), [cycles + cost, retired + 1]);
    }
    const found = rows.map((row) => [row.address, [row.cycles_b, row.retired_b]]);
    expect(new Map(found as [string, [number, number]][])).toEqual(expected);
  });
});
