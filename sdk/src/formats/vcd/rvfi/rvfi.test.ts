/** RVFI pins of a waveform give what `sv/uscope_rvfi.sv` records in a simulator: the same stimulus, the same expectations. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf } from '../../../../../test/support/foreign.js';
import { type Fact, readRetired } from '../../../../../test/support/retired-stream.js';
import { runUscope } from '../../../../../test/support/run-cli.js';
import { type Made, type Packet, Stream } from '../../../../../test/support/rvfi-stimulus.js';
import { VcdText } from '../../../../../test/support/vcd-text.js';
import { memorySource } from '../../../reader/index.js';
import { openTraceFile } from '../../../reader/node.js';
import { parseSchema } from '../../../schema/index.js';
import { FORMAT } from '../format.js';

const SCHEMA = fileURLToPath(new URL('../../../../../sv/uscope_rvfi.yaml', import.meta.url));
const PERIOD = 10_000;
/** Pins of a channel, from a packet. */
const PINS: Readonly<
  Record<string, readonly [width: number, of: (packet: Packet) => bigint | number | boolean]>
> = {
  valid: [1, () => 1],
  order: [64, ({ order }) => order],
  insn: [32, ({ insn }) => insn >>> 0],
  trap: [1, ({ trap }) => trap],
  halt: [1, ({ halt }) => halt],
  intr: [1, ({ intr }) => intr],
  mode: [2, ({ mode }) => mode],
  ixl: [2, ({ ixl }) => ixl],
  rs1_addr: [5, ({ rs1 }) => rs1[0]],
  rs2_addr: [5, ({ rs2 }) => rs2[0]],
  rs1_rdata: [64, ({ rs1 }) => rs1[1]],
  rs2_rdata: [64, ({ rs2 }) => rs2[1]],
  rd_addr: [5, ({ rd }) => rd[0]],
  rd_wdata: [64, ({ rd }) => rd[1]],
  pc_rdata: [64, ({ pc }) => pc],
  pc_wdata: [64, ({ next }) => next],
  mem_addr: [64, ({ memAddr }) => memAddr],
  mem_rmask: [8, ({ rmask }) => rmask],
  mem_wmask: [8, ({ wmask }) => wmask],
  mem_rdata: [64, ({ rdata }) => rdata],
  mem_wdata: [64, ({ wdata }) => wdata],
};
const CHANNELS = 2;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-rvfi-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** One clock edge for each row of channels; null: reset. */
function waveform(rows: readonly (readonly (Packet | null)[] | null)[]): Uint8Array {
  const vcd = new VcdText([
    { path: 'tb.clk', width: 1 },
    { path: 'tb.rst', width: 1 },
    ...Object.entries(PINS).map(([pin, [width]]) => ({
      path: `tb.dut.rvfi_${pin}`,
      width: CHANNELS * width,
    })),
  ]);
  rows.forEach((row, cycle) => {
    vcd.step(10 * cycle, { 'tb.clk': 0, 'tb.rst': row === null, ...pinsOf(row ?? []) });
    vcd.step(10 * cycle + 5, { 'tb.clk': 1 });
  });
  return vcd
    .step(10 * rows.length, { 'tb.clk': 0, ...pinsOf([]) })
    .step(10 * rows.length + 5, { 'tb.clk': 1 }).bytes;
}

function pinsOf(channels: readonly (Packet | null)[]): Record<string, bigint> {
  return Object.fromEntries(
    Object.entries(PINS).map(([pin, [width, of]]) => {
      const values = Array.from({ length: CHANNELS }, (_, n) => (channels[n] ? BigInt(of(channels[n])) : 0n));
      return [
        `tb.dut.rvfi_${pin}`,
        values.reduceRight((all, one) => (all << BigInt(width)) | BigInt.asUintN(width, one), 0n),
      ];
    }),
  );
}

async function convert(bytes: Uint8Array, name: string): Promise<string> {
  const map = join(directory, 'map.yaml');
  writeFileSync(
    map,
    'waves: 1\nclock: tb.clk\nreset: tb.rst\nscopes:\n  core0:\n    rvfi: tb.dut.rvfi_\n    isa: RV64IMAC\n',
  );
  const context = contextOf({ map });
  const foreign = await FORMAT.open?.(memorySource(bytes), context.options);
  const path = join(directory, `${name}.uscope`);
  rmSync(path, { force: true });
  await foreign?.toUscope({ path }, context);
  return path;
}

/** Rows of two channels, the older instruction sometimes in the second, and what the trace has to hold. */
function stimulus(count: number) {
  const stream = new Stream(1_000_000n);
  const rows: (readonly (Packet | null)[] | null)[] = [null];
  const expected: { cycle: number; fields: Record<string, bigint>; facts: Fact[] }[] = [];
  let previous: Packet | null = null;
  const expectOne = ({ packet, facts }: Made): void => {
    const isInterrupt = packet.intr && previous !== null && !previous.trap;
    const interrupt = { event: 'interrupt', fields: { epc: previous?.next ?? 0n, target: packet.pc } };
    const compressed: Record<string, bigint> = (packet.insn & 3) === 3 ? {} : { is_compressed: 1n };
    expected.push({
      cycle: rows.length,
      fields: {
        ...{ pc: packet.pc, inst_bits: BigInt(packet.insn >>> 0), order: packet.order },
        ...{ priv_level: BigInt(packet.mode), ixl: BigInt(packet.ixl), ...compressed },
      },
      facts: [...(isInterrupt ? [interrupt] : []), ...facts],
    });
    previous = packet;
  };
  for (let n = 0; n < count; n++) {
    const made = Array.from({ length: stream.below(3) }, () => stream.make());
    for (const one of made) expectOne(one);
    const packets = made.map(({ packet }) => packet);
    rows.push(stream.below(2) === 0 ? packets : [packets[1] ?? null, packets[0] ?? null]);
  }
  return { rows, expected };
}

describe('RVFI of a waveform', () => {
  it('gives every instruction with its fields and events', async () => {
    const { rows, expected } = stimulus(300);
    const trace = await openTraceFile(await convert(waveform(rows), 'stream'));
    const { retired, others } = await readRetired(trace, 'core0');
    const shown = retired.map(({ time, fields, facts }) => {
      const { entity_id: _, ...rest } = fields;
      return {
        cycle: (time - PERIOD / 2) / PERIOD,
        fields: rest,
        facts: facts.filter(({ event }) => event !== 'stage_transition' && event !== 'flush'),
      };
    });
    expect(shown).toEqual(expected);
    expect(others).toEqual([]);
    // As in the module: the ids that two cycles can fill, in turn.
    expect(retired.map(({ fields }) => fields.entity_id)).toEqual(retired.map((_, i) => BigInt(i % 4)));
    const state = await trace.stateAt(trace.totalTimePs);
    const traps = expected.filter(({ facts }) => facts.some(({ event }) => event === 'trap')).length;
    expect(state.slotField('core0/traps', 0, 'count')).toBe(BigInt(traps));
    expect(state.slotField('core0/committed_insns', 0, 'count')).toBe(BigInt(expected.length - traps));
    await trace.close();
  });

  it('has the schema of the module, so that both kinds of traces can be compared', async () => {
    const trace = await openTraceFile(await convert(waveform([null]), 'schema'));
    const { schema } = parseSchema(readFileSync(SCHEMA, 'utf8'), { variables: { core: '0' } });
    expect(trace.schema.storages).toEqual(schema.storages);
    expect(trace.schema.events).toEqual(schema.events);
    expect(trace.schema.enums).toEqual(schema.enums);
    await trace.close();
  });

  it('reports broken rules', async () => {
    const stream = new Stream(50n);
    const plain = Array.from({ length: 80 }, () => stream.plain().packet);
    plain[10].pc += 4n;
    plain[20].rs2 = [1, 0xdeadn];
    plain[30].rd = [0, 5n];
    const without = plain.filter((_, n) => n !== 79 - 70);
    const rows = [null, ...without.map((packet) => [packet])];
    const trace = await openTraceFile(await convert(waveform(rows), 'broken'));
    const { others } = await readRetired(trace, 'core0');
    const found = others.map(
      ({ fields }) => `${fields.code} ${fields.order} ${fields.expected} ${fields.found}`,
    );
    expect(found).toEqual([`4 70 1 ${0xdead}`, '5 80 0 5', '0 123 59 123']);
    await trace.close();
  });

  it('and `diff --by retired` compares registers and stores', async () => {
    const { rows } = stimulus(60);
    const same = await convert(waveform(rows), 'a');
    const slower = await convert(waveform(rows.flatMap((row) => [row, []])), 'b');
    const equal = await runUscope(['diff', '--by', 'retired', same, slower]);
    expect([equal.status, equal.out]).toEqual([0, expect.stringContaining('are the same')]);
    const writer = rows
      .flatMap((row) => row ?? [])
      .find((packet) => packet && packet.rd[0] !== 0 && !packet.trap) as Packet;
    const { pc } = writer;
    writer.rd = [writer.rd[0], writer.rd[1] ^ 1n];
    const other = await runUscope(['diff', '--by', 'retired', same, await convert(waveform(rows), 'c')]);
    expect(other.status).toBe(1);
    expect(other.out).toContain(pc.toString(16));
    expect(other.out).toMatch(/registers=x\d+=0x/);
    const ignored = await runUscope([
      'diff',
      '--by',
      'retired',
      '--compare',
      'trap',
      same,
      join(directory, 'c.uscope'),
    ]);
    expect(ignored.status).toBe(0);
  });
});
