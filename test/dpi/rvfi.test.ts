/** sv/uscope_rvfi.sv with two channels of 64 bits: what a made-up stream says is what the trace holds, and every broken rule is found. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { parseSchema } from '../../sdk/src/schema/index.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';
import { type Fact, type RetiredStream, readRetired } from '../support/retired-stream.js';
import { type Cycle, type Made, type Packet, Stream, stimulusLine } from '../support/rvfi-stimulus.js';

// Each design is built with Verilator.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCHEMA = join(ROOT, 'sv/uscope_rvfi.yaml');
const SOURCES = ['uscope_pkg', 'uscope_cpu_pkg', 'uscope_rvfi_pkg', 'uscope_rvfi'].map((name) =>
  join(ROOT, 'sv', `${name}.sv`),
);
const PERIOD = 2500;
const REORDER = 8n;
const REPORTS = 4;
const VENV_PYTHON = join(ROOT, 'cocotb-adapter/.venv/bin/python');
const PYTHON = existsSync(VENV_PYTHON) ? VENV_PYTHON : 'python3';
const succeeds = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;
const hasVerilator = succeeds('verilator', '--version');

/** The shipped schema with a storage of the test bench's own. */
const extended = (): string =>
  `${readFileSync(SCHEMA, 'utf8')}  bench:
    clock: clk
    storages:
      occupancy: {slots: 1, kind: dense, fields: {retiring: u8}}
`;

/** What the test drives and what it expects of it. */
class Plan {
  readonly cycles: Cycle[] = [{ rst: true, channels: [null, null] }];
  readonly expected: { cycle: number; fields: Record<string, bigint>; facts: Fact[] }[] = [];
  readonly violations: Fact[] = [];
  private previous: Packet | null = null;

  /** One cycle, the instructions in the order of their indices; `swapped` puts the first into channel 1. */
  cycle(made: readonly Made[], swapped: boolean): void {
    for (const { packet, facts } of made) {
      const isInterrupt = packet.intr && this.previous !== null && !this.previous.trap;
      const interrupt = {
        event: 'interrupt',
        fields: { epc: this.previous?.next ?? 0n, target: packet.pc },
      };
      const all = [...(isInterrupt ? [interrupt] : []), ...facts];
      if (packet.halt) all.push({ event: 'halt', fields: {} });
      this.expected.push({ cycle: this.cycles.length, fields: fieldsOf(packet), facts: all });
      this.previous = packet;
    }
    const [a = null, b = null] = made.map(({ packet }) => packet);
    this.cycles.push({ channels: swapped ? [b, a] : [a, b] });
  }

  /** Valid channels while reset is active, as some cores show them before their first instruction: nothing of it is recorded. */
  glitch(packet: Packet): void {
    this.cycles.push({ rst: true, channels: [packet, null] }, { rst: true, channels: [packet, packet] });
    this.previous = null;
  }

  reset(): void {
    this.cycles.push({ rst: true, channels: [null, null] });
    this.previous = null;
  }

  violation(code: number, channel: number, order: bigint, expected: bigint, found: bigint): void {
    const fields = { code: BigInt(code), channel: BigInt(channel), order, expected, found };
    this.violations.push({ event: 'violation', fields });
  }
}

function fieldsOf({ order, pc, insn, mode, ixl }: Packet): Record<string, bigint> {
  const compressed: Record<string, bigint> = (insn & 3) === 3 ? {} : { is_compressed: 1n };
  const inst_bits = BigInt(insn >>> 0);
  return { pc, inst_bits, order, priv_level: BigInt(mode), ixl: BigInt(ixl), ...compressed };
}

/** A legal stretch: none, one or two in a cycle, in any channel, a few out of order from cycle to cycle. */
function legal(plan: Plan, stream: Stream, cycles: number): void {
  for (let n = 0; n < cycles; n++) {
    const count = stream.below(3);
    const made = Array.from({ length: count }, () => stream.make());
    const isPlain = made.every(({ packet }) => !packet.intr && !packet.trap);
    if (count === 2 && isPlain && stream.below(4) === 0) {
      plan.cycle([made[1]!], stream.below(2) === 1);
      plan.cycle([made[0]!], stream.below(2) === 1);
    } else plan.cycle(made, count > 0 && stream.below(2) === 1);
  }
}

/** A read mask on what cannot read, and an mret that shows the next instruction in memory and not where it leads: neither breaks a rule. */
function asIbexDoes(plan: Plan, stream: Stream): void {
  plain(plan, stream, 3, (packet) => {
    packet.rmask = 0xff;
  });
  const { packet } = stream.plain();
  const mret = { ...packet, insn: 0x3020_0073, next: packet.pc + 4n, rd: [0, 0n] as const };
  plan.cycle([{ packet: mret, facts: [] }], false);
  plain(plan, stream, 2);
}

/** Single instructions in channel 0, in order, without exceptions and interrupts. */
function plain(
  plan: Plan,
  stream: Stream,
  count: number,
  change?: (packet: Packet, n: number) => void,
): void {
  for (let n = 0; n < count; n++) {
    const made = stream.plain();
    change?.(made.packet, n);
    plan.cycle([made], false);
  }
}

/** Each rule broken, some plain instructions apart. The codes are those of the enum `rvfi_violation`. */
function broken(plan: Plan, stream: Stream): void {
  // Two writes of one register, the second one first: what it holds then is not known, and not compared.
  const [first, second, reader] = [stream.plain(), stream.plain(), stream.plain()];
  for (const [n, { packet, facts }] of [first, second].entries()) {
    packet.rd = [1, BigInt(n)];
    facts[0]!.fields.value = BigInt(n);
  }
  reader.packet.rs1 = [1, 1n];
  for (const made of [second, first, reader]) plan.cycle([made], false);

  plain(plan, stream, 10);
  const gap = stream.nextOrder;
  stream.skip(3);
  plain(plan, stream, 10);
  plan.violation(0, 0, gap + REORDER, gap, gap + REORDER);

  const again = stream.plain();
  plan.cycle([again], true);
  const due = stream.nextOrder;
  plan.cycle([{ ...again, packet: { ...again.packet, order: due - 5n } }], true);
  plan.violation(1, 1, due - 5n, due, due - 5n);
  plain(plan, stream, 2);

  const [one, other] = [stream.plain(), stream.plain()];
  const { order } = one.packet;
  plan.cycle([one, { ...other, packet: { ...other.packet, order } }], false);
  plan.violation(2, 1, order, 1n, 0n);
  plan.violation(1, 1, order, order + 1n, order);
  stream.skip(-1);

  plain(plan, stream, 3, (packet, n) => {
    if (n !== 2) return;
    plan.violation(3, 0, packet.order, packet.pc, packet.pc + 4n);
    packet.pc += 4n;
  });
  plain(plan, stream, 2, (packet, n) => {
    if (n !== 1) return;
    packet.rs2 = [1, 0xdeadn];
    plan.violation(4, 0, packet.order, 1n, 0xdeadn);
  });
  // Six times: all are counted, the first few are events.
  plain(plan, stream, 6, (packet, n) => {
    packet.rs1 = [0, 77n];
    if (n < REPORTS) plan.violation(5, 0, packet.order, 0n, 77n);
  });
  plain(plan, stream, 2, (packet, n) => {
    if (n === 0) packet.halt = true;
    else plan.violation(6, 0, packet.order, packet.order - 1n, packet.order);
  });
  // The gap before a reset is found although nothing comes after it.
  const last = stream.nextOrder;
  stream.skip(2);
  plan.violation(6, 0, last + 2n, last - 2n, last + 2n);
  plain(plan, stream, 1);
  plan.reset();
  plan.violation(0, 0, last + 2n, last, last + 2n);
}
const COUNTED = 15;
const MISSING = 5;

describe.skipIf(lacks('Verilator', hasVerilator))('uscope_rvfi with two channels of 64 bits', () => {
  let directory = '';
  let output = '';
  let trace: Trace;
  let seen: RetiredStream;
  const plan = new Plan();

  beforeAll(async () => {
    const stream = new Stream(7n);
    legal(plan, stream, 1500);
    asIbexDoes(plan, stream);
    broken(plan, stream);
    const { packet } = new Stream(99n).plain();
    // What glitches breaks rules, too: a tie, a value for x0, a halt.
    plan.glitch({ ...packet, halt: true, rd: [0, 5n] });
    legal(plan, new Stream(0n), 500);
    if (!existsSync(join(ROOT, 'sdk/dist/cli/main.js'))) buildSdk();
    execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
    directory = mkdtempSync(join(tmpdir(), 'uscope-rvfi-'));
    output = simulate();
    trace = await openTraceFile(join(directory, 'out/wide.uscope'));
    seen = await readRetired(trace, 'core3');
  });
  afterAll(async () => {
    await trace?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function simulate(): string {
    const at = (name: string): string => join(directory, name);
    writeFileSync(at('stimulus.hex'), `${plan.cycles.map(stimulusLine).join('\n')}\n`);
    writeFileSync(at('extended.yaml'), extended());
    const sources = [...SOURCES, join(ROOT, 'test/dpi/rvfi.sv'), join(ROOT, 'test/dpi/main.cpp')];
    const link = `${join(ROOT, 'dpi/build/libuscope_dpi.a')} -lzmq -lpthread`;
    const options = [
      '--cc',
      '--exe',
      '--build',
      '-j',
      '1',
      '-Wall',
      '-Wno-DECLFILENAME',
      '--top-module',
      'top',
    ];
    const paths = [`+incdir+${join(ROOT, 'sv')}`, '--Mdir', at('obj'), '-LDFLAGS', link];
    execFileSync('verilator', [...options, ...paths, ...sources], { stdio: ['ignore', 'ignore', 'pipe'] });
    // The first level of the clock is not an edge.
    return run('out', plan.cycles.length + 1, `+stimulus=${at('stimulus.hex')}`);
  }

  function run(out: string, cycles: number, plusarg: string, schema = 'extended.yaml'): string {
    const at = (name: string): string => join(directory, name);
    const uscope = [BIN, 'run', '--out', at(out), '--schema', at(schema), '--', at('obj/Vtop')];
    const args = [...uscope, String(cycles), plusarg];
    const ended = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
    if (ended.status !== 0) throw new Error(`ended with ${ended.status}:\n${ended.stdout}${ended.stderr}`);
    return ended.stdout + ended.stderr;
  }

  it('records each instruction in the cycle of its channel, by rising index', () => {
    const found = seen.retired.map(({ time, fields: { entity_id: _, ...fields } }) => ({
      cycle: time / PERIOD,
      fields,
    }));
    expect(found).toEqual(plan.expected.map(({ cycle, fields }) => ({ cycle, fields })));
    expect(found.length).toBeGreaterThan(1800);
  });

  it('uses the ids in turn that two cycles can fill, which makes a trace half as large as 64 of them do', () => {
    const ids = seen.retired.map(({ fields }) => fields.entity_id);
    expect(ids).toEqual(ids.map((_, i) => BigInt(i % 4)));
  });

  it('records the same where the fields of an entity have another order', async () => {
    const [whole, fields] = /fields: \{(entity_id: u32.*?)\}/.exec(extended())!;
    const turned = `fields: {${fields!.split(', ').reverse().join(', ')}}`;
    writeFileSync(join(directory, 'turned.yaml'), extended().replace(whole, turned));
    run('turned', 400, `+stimulus=${join(directory, 'stimulus.hex')}`, 'turned.yaml');
    const other = await openTraceFile(join(directory, 'turned/wide.uscope'));
    const { retired } = await readRetired(other, 'core3');
    await other.close();
    expect(retired.length).toBeGreaterThan(300);
    expect(retired.map(({ fields }) => fields)).toEqual(
      seen.retired.slice(0, retired.length).map(({ fields }) => fields),
    );
  });

  it('records what each of them did', () => {
    const extra = new Set(['stage_transition', 'flush']);
    const found = seen.retired.map(({ facts }) => facts.filter(({ event }) => !extra.has(event)));
    expect(found).toEqual(plan.expected.map(({ facts }) => facts));
    const kinds = new Set(found.flat().map(({ event }) => event));
    expect([...kinds].sort()).toEqual(['halt', 'interrupt', 'mem_read', 'mem_write', 'reg_write', 'trap']);
  });

  it('ends each of them a cycle later: those that trapped are squashed', () => {
    for (const { time, end, facts } of seen.retired) {
      const of = (name: string) => facts.filter(({ event }) => event === name);
      expect(end).toBe(time + PERIOD);
      expect(of('stage_transition').length).toBe(1);
      expect(of('flush').map(({ fields }) => fields.reason)).toEqual(of('trap').map(() => 1n));
    }
  });

  it('finds each broken rule where it is broken, and nothing else', async () => {
    expect(seen.others.map(({ event, fields }) => ({ event, fields }))).toEqual(plan.violations);
    const end = await trace.stateAt(trace.totalTimePs);
    const count = (name: string): number => Number(end.slotField(`core3/${name}`, 0, 'count'));
    expect([count('violations'), count('missing_insns')]).toEqual([COUNTED, MISSING]);
    // Once each on the console, with the code by which to look it up.
    for (const name of [
      'ORDER_GAP',
      'ORDER_REPEATED',
      'ORDER_TIE',
      'PC_MISMATCH',
      'REGISTER_MISMATCH',
      'X0_NOT_ZERO',
      'AFTER_HALT',
    ])
      expect(output.split(`RVFI_${name}:`).length - 1).toBe(1);
  });

  it('counts', async () => {
    const end = await trace.stateAt(trace.totalTimePs);
    const count = (name: string): number => Number(end.slotField(`core3/${name}`, 0, 'count'));
    const has = (name: string) =>
      plan.expected.filter(({ facts }) => facts.some(({ event }) => event === name)).length;
    const ran = plan.expected.filter(({ facts }) => !facts.some(({ event }) => event === 'trap'));
    const of = (...insns: number[]) =>
      ran.filter(({ fields }) => insns.includes(Number(fields.inst_bits))).length;
    expect(count('cycles')).toBe(plan.cycles.length + 1);
    expect(count('committed_insns')).toBe(ran.length);
    expect([count('traps'), count('interrupts')]).toEqual([has('trap'), has('interrupt')]);
    expect([count('loads'), count('stores')]).toEqual([has('mem_read'), has('mem_write')]);
    expect([count('branches'), count('jumps')]).toEqual([of(0x63, 0xc001), of(0xa001)]);
    expect(count('branches_taken')).toBeGreaterThan(count('branches') / 4);
    expect(count('branches_taken')).toBeLessThan((count('branches') * 3) / 4);
  });

  it('says where the clock has another period than the schema, on the console and in info', () => {
    const info = (out: string): string => {
      const args = [BIN, 'info', join(directory, out, 'wide.uscope')];
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      return stdout + stderr;
    };
    expect(run('same', 20, `+half_ps=${PERIOD / 2}`)).not.toContain('RVFI_PERIOD');
    expect(info('same')).not.toContain('warning');
    expect(run('other', 20, `+half_ps=${PERIOD}`)).toMatch(
      /RVFI_PERIOD: the clock rises every 5000 ps, its period in the schema is 2500 ps/,
    );
    expect(info('other')).toMatch(
      /^uscope: warning: the clock of the simulator rose every 5000 ps, its period in the schema is 2500 ps/m,
    );
  });

  it('shares the trace with a tracer of the test bench', async () => {
    for (const cycle of [20, 300, 1200]) {
      const state = await trace.stateAt(cycle * PERIOD);
      const valid = plan.cycles[cycle]!.channels.filter((channel) => channel !== null).length;
      expect(Number(state.slotField('bench/occupancy', 0, 'retiring'))).toBe(valid);
    }
    const verified = spawnSync(process.execPath, [BIN, 'verify', join(directory, 'out/wide.uscope')]);
    expect(verified.status).toBe(0);
    expect(output).toMatch(/ 0 rejected, 0 lost/);
    expect(trace.schema.scopes.map(({ name }) => name)).toContain('core3');
  });
});

describe('the files of uscope_rvfi', () => {
  const source = readFileSync(SOURCES.at(-1)!, 'utf8');
  const { schema } = parseSchema(readFileSync(SCHEMA, 'utf8'), { file: 'uscope_rvfi.yaml' });
  const namesOf = (pattern: RegExp): string[] =>
    [...source.matchAll(pattern)].map((match) => match[1]!).sort();

  it('the schema has every counter, storage and event that the module looks up, and no other', () => {
    const counters = namesOf(/uscope_cpu_counter\(cpu, "(\w+)"\)/g);
    const storages = namesOf(/uscope_storage_id\(w, \{scope, "(\w+)"\}\)/g);
    expect(schema.storages.map(({ name }) => name).sort()).toEqual([...counters, ...storages].sort());
    const events = namesOf(/uscope_event_id\(w, \{scope, "(\w+)"\}\)/g);
    expect(schema.events.map(({ name }) => name).sort()).toEqual(events);
    const fields = schema.storages.find(({ name }) => name === 'entities')!.fields.map(({ name }) => name);
    const set = namesOf(/uscope_cpu_field\(cpu, "(\w+)"\)/g);
    expect([...fields].sort()).toEqual(set);
  });

  it('events have as many fields as the module gives them', () => {
    for (const [, count, name] of source.matchAll(/uscope_event(\d)\(w, ev_(\w+)\[/g))
      expect(schema.events.find((event) => event.name === name)!.fields.length).toBe(Number(count));
  });

  it('violations have the same numbers in the package and in the schema', () => {
    const inPackage = readFileSync(SOURCES[2]!, 'utf8').matchAll(/^ {4}([A-Z0-9_]+) += (\d)/gm);
    const codes = [...inPackage].map(([, name, value]) => ({
      name: name!.toLowerCase(),
      value: Number(value),
    }));
    expect(schema.enums.find(({ name }) => name === 'rvfi_violation')!.values).toEqual(codes);
  });

  it.skipIf(lacks('Verilator', hasVerilator)).each([
    [1, 32, 1],
    [1, 32, 64],
    [4, 64, 64],
    [16, 64, 1024],
  ])('Verilator has nothing to say: NRET %i, XLEN %i, REORDER %i', (nret, xlen, reorder) => {
    const parameters = [`-GNRET=${nret}`, `-GXLEN=${xlen}`, `-GREORDER=${reorder}`];
    const args = ['--lint-only', '-Wall', `-I${join(ROOT, 'sv')}`, ...parameters, ...SOURCES];
    const lint = spawnSync('verilator', args, { encoding: 'utf8' });
    // Verilator 5.048 adds how long it took.
    const text = (lint.stdout + lint.stderr).replace(/^- (V e r i l a t i o n|Verilator:).*\n/gm, '');
    expect({ status: lint.status, text }).toEqual({ status: 0, text: '' });
  });

  it.skipIf(lacks('pyslang', succeeds(PYTHON, '-c', 'import pyslang')))('pyslang has nothing to say', () => {
    const script = `import sys, pyslang
try:
    from pyslang.ast import Compilation
    from pyslang.syntax import SyntaxTree
except ImportError:
    from pyslang import Compilation, SyntaxTree
compilation = Compilation()
for path in sys.argv[1:]:
    compilation.addSyntaxTree(SyntaxTree.fromFile(path))
for diagnostic in compilation.getAllDiagnostics():
    print(diagnostic.code, diagnostic.args, diagnostic.location.offset)
`;
    const args = ['-c', script, ...SOURCES];
    expect(execFileSync(PYTHON, args, { cwd: join(ROOT, 'sv'), encoding: 'utf8' })).toBe('');
  });
});
