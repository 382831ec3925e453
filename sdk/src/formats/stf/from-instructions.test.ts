/** What any core retired, as STF: made of small traces whose every instruction is known. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles, type MemoryOutput } from '../../../../test/support/foreign.js';
import { memorySource } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { SchemaBuilder } from '../../schema/index.js';
import { TraceWriter } from '../../writer/index.js';
import { FORMAT } from './format.js';
import { listRecord, StfFile } from './index.js';

interface Step {
  readonly pc: bigint;
  readonly bits: number;
  /** Address and data in the load queue. */
  readonly load?: readonly [address: bigint, data: bigint];
  readonly trap?: { cause: bigint; tval: bigint; target: bigint };
  readonly squashed?: boolean;
}

const [ADDI, LW, JAL_8, BEQ_8, JALR] = [0x13, 0x0000_a083, 0x0080_006f, 0x0000_0463, 0x0000_8067];
const C_ADDI = 0x0001;
let directory = '';
let count = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-stf-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function trace(cores: Readonly<Record<string, readonly Step[]>>, isa = 'RV64GC'): Promise<string> {
  const builder = new SchemaBuilder().dut('dut_name', 'small').dut('cpu.isa', isa).clock('clk', 1000);
  builder.enum('flush_reason', ['mispredict', 'exception', 'interrupt', 'pipeline_clear']);
  for (const core of Object.keys(cores)) {
    builder
      .scope(core, { protocol: 'cpu', clock: 'clk' })
      .storage('entities', {
        slots: 8,
        kind: 'sparse',
        fields: { entity_id: 'u32', pc: 'u64', inst_bits: 'u32' },
      })
      .storage('lq', { slots: 2, kind: 'buffer', fields: { entity_id: 'u32', addr: 'u64', data: 'u64' } })
      .event('flush', { entity_id: 'u32', reason: 'flush_reason' })
      .event('trap', { entity_id: 'u32', cause: 'u64', tval: 'u64', target: 'u64' });
  }
  const { schema, dut } = builder.build();
  const path = join(directory, `${count++}.uscope`);
  const writer = await TraceWriter.create({ path, schema, dut });
  const longest = Math.max(...Object.values(cores).map((steps) => steps.length));
  for (let cycle = 0; cycle <= longest; cycle++) {
    writer.beginCycle(cycle * 1000);
    for (const [core, steps] of Object.entries(cores)) writeCycle(writer, core, steps, cycle);
    writer.endCycle();
  }
  await writer.close();
  return path;
}

/** Each instruction is born in its cycle and gone in the next one. */
function writeCycle(writer: TraceWriter, core: string, steps: readonly Step[], cycle: number): void {
  const [before, now] = [steps[cycle - 1], steps[cycle]];
  const [last, slot] = [(cycle + 7) % 8, cycle % 8];
  if (before) {
    if (before.trap) writer.event(`${core}/trap`, { entity_id: last, ...before.trap });
    if (before.squashed) writer.event(`${core}/flush`, { entity_id: last, reason: 1 });
    if (before.load) writer.slotClear(`${core}/lq`, 0);
    writer.slotClear(`${core}/entities`, last);
  }
  if (!now) return;
  writer.slotSet(`${core}/entities`, slot, 'entity_id', slot);
  writer.slotSet(`${core}/entities`, slot, 'pc', now.pc);
  writer.slotSet(`${core}/entities`, slot, 'inst_bits', now.bits);
  if (!now.load) return;
  writer.slotSet(`${core}/lq`, 0, 'addr', now.load[0]);
  writer.slotSet(`${core}/lq`, 0, 'entity_id', slot);
  writer.slotSet(`${core}/lq`, 0, 'data', now.load[1]);
}

async function convert(path: string, options: Record<string, string> = {}) {
  const opened = await openTraceFile(path);
  const files = new MemoryFiles();
  const context = contextOf(options);
  try {
    await FORMAT.write!(opened, files, '.stf', context);
  } finally {
    await opened.close();
  }
  return { files: files.files, warnings: context.warnings, report: context.report };
}

/** Lines of the listing after the header, without offsets. */
async function body(output: MemoryOutput | undefined): Promise<string[]> {
  const lines: string[] = [];
  const stream = await (await StfFile.open(memorySource(output!.bytes))).stream();
  while (await stream.more()) {
    while (stream.next()) if (stream.cursor.isBody) lines.push(listRecord(stream.cursor).slice(19));
  }
  return lines.slice(1).map((line) => line.replace(/ +/g, ' '));
}

describe('the retired stream', () => {
  it('has targets for what jumped, and none for what did not', async () => {
    const steps = [
      { pc: 0x100n, bits: BEQ_8 },
      { pc: 0x104n, bits: BEQ_8 },
      { pc: 0x10cn, bits: JAL_8 },
      { pc: 0x114n, bits: 0xffff_0001 }, // what a fetch of 32 bits leaves above a compressed instruction
      { pc: 0x116n, bits: JALR },
      { pc: 0x1000n, bits: JAL_8 },
    ];
    const { files, report } = await convert(await trace({ core0: steps }));
    expect(await body(files.get(null))).toEqual([
      'INST_OPCODE32 00000463 pc=0x100',
      'INST_PC_TARGET 0x10c',
      'INST_OPCODE32 00000463 pc=0x104',
      'INST_PC_TARGET 0x114',
      'INST_OPCODE32 0080006f pc=0x10c',
      'INST_OPCODE16 0001 pc=0x114',
      'INST_PC_TARGET 0x1000',
      'INST_OPCODE32 00008067 pc=0x116',
      'INST_PC_TARGET 0x1008',
      'INST_OPCODE32 0080006f pc=0x1000',
    ]);
    expect(report.rows.find(({ what }) => what === 'retired instructions')?.count).toBe(6n);
  });

  it('tells traps where they are known, and breaks where they are not', async () => {
    const interrupt = { cause: (1n << 63n) | 7n, tval: 0n, target: 0x900n };
    const steps = [
      { pc: 0x100n, bits: JAL_8 },
      { pc: 0x108n, bits: ADDI, trap: interrupt, squashed: true },
      { pc: 0x900n, bits: 0x3020_0073 },
      { pc: 0x108n, bits: ADDI },
      { pc: 0x10cn, bits: LW, trap: { cause: 13n, tval: 0x77n, target: 0x800n }, squashed: true },
      { pc: 0x110n, bits: ADDI, squashed: true },
      { pc: 0x800n, bits: ADDI },
    ];
    const { files, report } = await convert(await trace({ core0: steps }));
    expect(await body(files.get(null))).toEqual([
      'INST_PC_TARGET 0x108',
      'EVENT 0x8000000000000007 [0x0]',
      'EVENT_PC_TARGET 0x900',
      'INST_OPCODE32 0080006f pc=0x100',
      'INST_OPCODE32 30200073 pc=0x900',
      'FORCE_PC 0x108',
      'INST_OPCODE32 00000013 pc=0x108',
      'EVENT 0xd [0x10c, 0xa083, 0x77]',
      'EVENT_PC_TARGET 0x800',
      'INST_OPCODE32 0000a083 pc=0x10c',
      'INST_OPCODE32 00000013 pc=0x800',
    ]);
    expect(report.unwaived().find(({ what }) => what === 'squashed instructions')?.count).toBe(1n);
  });

  it('joins loads with their queue, and says which have no address', async () => {
    const steps = [
      { pc: 0x100n, bits: LW, load: [0x2004n, 0x1_2345_6789n] as const },
      { pc: 0x104n, bits: LW },
      { pc: 0x108n, bits: ADDI },
    ];
    const { files, warnings } = await convert(await trace({ core0: steps }));
    const text = '1 loads and 0 stores have no INST_MEM_ACCESS: no buffer held their address';
    expect(await body(files.get(null))).toEqual([
      'INST_MEM_ACCESS READ addr=0x2004 size=4 attr=0x0',
      'INST_MEM_CONTENT 0x0000000023456789',
      'INST_OPCODE32 0000a083 pc=0x100',
      'INST_OPCODE32 0000a083 pc=0x104',
      'INST_OPCODE32 00000013 pc=0x108',
      `COMMENT '${text}'`,
    ]);
    expect(warnings).toEqual([`core0: ${text}`]);
  });

  it('has a file for each core, or the one asked for', async () => {
    const path = await trace({ core0: [{ pc: 4n, bits: ADDI }], core1: [{ pc: 8n, bits: ADDI }] }, 'RV32I');
    const both = await convert(path);
    expect([...both.files.keys()]).toEqual(['core0', 'core1']);
    const one = await convert(path, { core: 'core1', generator: 'Spike', version: '1.4' });
    expect(await body(one.files.get(null))).toEqual(['INST_OPCODE32 00000013 pc=0x8']);
    const file = await StfFile.open(memorySource(one.files.get(null)!.bytes));
    const records = [];
    for await (const record of file.records()) records.push(record);
    expect(records).toMatchObject([
      { type: 1 },
      { minor: 4 },
      { isa: 1 },
      { iem: 1 },
      { generator: 6, version: [0, 1, 0] },
      { features: 8n },
      { pc: 8n },
      { type: 19 },
      { bits: 0x13 },
    ]);
  });

  it('is refused where it cannot be right', async () => {
    const expanded = [
      { pc: 0x100n, bits: ADDI },
      { pc: 0x102n, bits: C_ADDI },
    ];
    await expect(convert(await trace({ core0: expanded }))).rejects.toThrow(/CONVERT_SOURCE.*expanded/);
    const path = await trace({ core0: [{ pc: 0n, bits: ADDI }] }, 'unknown');
    await expect(convert(path)).rejects.toThrow(/CONVERT_SOURCE.*cpu\.isa/);
    expect((await convert(path, { iem: 'rv64' })).files.size).toBe(1);
    await expect(convert(path, { content: 'records' })).rejects.toThrow(/CONVERT_SOURCE/);
    const wrong = {
      iem: '64',
      generator: '256',
      version: '1.7',
      chunk: '0',
      level: 'x',
      'generator-version': '1',
    };
    for (const [name, value] of Object.entries(wrong)) {
      await expect(convert(path, { [name]: value })).rejects.toThrow(/CONVERT_OPTION/);
    }
    await expect(convert(await trace({ core0: [] }))).rejects.toThrow(/CONVERT_SOURCE.*no instruction/);
  });
});
