/** Logs of Spike, in the shapes that it documents, and of QEMU, as it prints them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { contextOf, cuts, flips } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { isUscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import type { ForeignFormat } from '../common/foreign-format.js';
import { FORMAT as QEMU } from '../qemu/format.js';
import { type RetiredRecord, RetiredRecords } from '../retired/log.js';
import { FORMAT as SPIKE } from './format.js';
import { SpikeParser } from './parse.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const QEMU_USER_LOG = fileURLToPath(new URL('../../../../test/vectors/qemu/rv32-user.log', import.meta.url));
const QEMU_LOG = fileURLToPath(new URL('../../../../test/vectors/qemu/rv32-singlestep.log', import.meta.url));
const LOG = `core   0: >>>>  _start
core   0: 0x80000000 (0x00001117) auipc   sp, 0x1
core   0: 3 0x80000000 (0x00001117) x2  0x80001000
core   0: 0x80000004 (0x0000c709) c.beqz  a4, pc + 10
core   0: 3 0x80000004 (0x0000c709)
core   0: 0x80000006 (0x00a12023) sw      a0, 0(sp)
core   0: 3 0x80000006 (0x00a12023) mem 0x80001000 0x0000002a
hello from the program
core   0: 0x8000000a (0x00a12603) lw      a2, 0(sp)
core   0: 3 0x8000000a (0x00a12603) x12 0x0000002a mem 0x80001000
core   0: 0x8000000e (0x0ffff6af) amoadd
core   0: 3 0x8000000e (0x0ffff6af) x 13 0x00000004 mem 0x80001000 mem 0x80001000 0x05
core   0: 0x80000012 (0x30529073) csrw    mtvec, t0
core   0: 3 0x80000012 (0x30529073) c773_mtvec 0x80000100 f1 0x3f800000 e8 m1 l16 v2 0x00ff
core   0: 0x80000016 (0x00000000) c.unimp
core   0: exception trap_illegal_instruction, epc 0x80000016
core   0:           tval 0x00000000
core   0: exception interrupt #7, epc 0x80000100
core   0: 0x80000200 (0x00000013) nop
core   0: 3 0x80000200 (0x00000013)
`;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-spike-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function parsed(text: string): { parser: SpikeParser; records: RetiredRecord[] } {
  const records = new RetiredRecords();
  const parser = new SpikeParser(records, { isGiven: false, isHexadecimal: false });
  const bytes = bytesOf(`${text}\n`);
  for (let at = 0; at < bytes.length; ) at = parser.take(bytes, at, bytes.length, 0);
  parser.end();
  return { parser, records: records.all };
}

const parse = (text: string): RetiredRecord[] => parsed(text).records;

async function convert(format: ForeignFormat, bytes: Uint8Array, options: Record<string, string> = {}) {
  const context = contextOf(options);
  const foreign = await format.open?.(memorySource(bytes, 'log'), context.options);
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  const stats = await foreign?.toUscope({ path }, context);
  return { path, stats, context, isPartial: foreign?.isPartial };
}

describe('Spike', () => {
  it('gives instructions with what they committed, traps and interrupts', () => {
    const found = parse(LOG);
    expect(found.map(({ pc }) => pc.toString(16))).toEqual([
      '80000000',
      '80000004',
      '80000006',
      '8000000a',
      '8000000e',
      '80000012',
      '80000016',
      '80000200',
    ]);
    expect(found[0]).toMatchObject({
      text: null,
      privilege: 3,
      registers: [{ file: 'x', index: 2, value: 0x8000_1000n }],
    });
    expect(found[1].bits).toBe(0xc709);
    expect(found[2].stores).toEqual([{ address: 0x8000_1000n, bytes: 4, value: 42n }]);
    expect(found[3]).toMatchObject({ registers: [{ index: 12, value: 42n }], loads: [0x8000_1000n] });
    expect(found[4]).toMatchObject({
      registers: [{ index: 13 }],
      loads: [0x8000_1000n],
      stores: [{ bytes: 1, value: 5n }],
    });
    expect(found[5]).toMatchObject({
      csrs: [{ number: 773, name: 'mtvec', value: 0x8000_0100n }],
      registers: [{ file: 'f', index: 1 }],
      notes: ['e8 m1 l16', 'v2 0x00ff'],
    });
    expect(found[6]).toMatchObject({ trap: { cause: 2n, value: 0n }, registers: [] });
    expect(found[7].interrupt).toEqual({ cause: 7n, epc: 0x8000_0100n });
  });

  it('takes either kind of line alone, harts, prefixes of the interactive mode, and 64 bits', () => {
    const lines = LOG.split('\n');
    const commits = parse(lines.filter((line) => / 3 0x|exception|tval/.test(line)).join('\n'));
    expect(commits.map(({ pc }) => pc)).toEqual(parse(LOG).map(({ pc }) => pc));
    const listed = parse(lines.filter((line) => !/ 3 0x/.test(line)).join('\n'));
    expect(listed.map(({ pc }) => pc)).toEqual(parse(LOG).map(({ pc }) => pc));
    const { parser, records } = parsed(
      [
        '(spikeX',
        '(spike) core   3: 1 0xffffffff80000000 (0x00000013)',
        ': core   0: 0 0x0000000080000004 (0x00000013) x 5 0x0000000000000001',
      ].join('\n'),
    );
    expect(records.map(({ hart, privilege }) => [hart, privilege])).toEqual([
      [3, 1],
      [0, 0],
    ]);
    expect([parser.xlen, parser.foreign]).toEqual([64, 1]);
  });

  it('becomes a trace, from a start on, and says what was left out', async () => {
    const { path, context } = await convert(SPIKE, bytesOf(LOG), { start: '0x80000006', isa: 'RV32IMAC' });
    const rows = Object.fromEntries(context.report.rows.map(({ what, count }) => [what, Number(count)]));
    expect(rows).toMatchObject({
      instructions: 6,
      traps: 1,
      stores: 2,
      'instructions before the start': 2,
      'other lines': 2,
    });
    const timeline = await runUscope(['timeline', path]);
    expect(timeline.out).toContain('80000006 sw a0,0(sp)');
    expect((await runUscope(['verify', path])).status).toBe(0);
  });

  it('is compared with a trace, or another log, as it is', async () => {
    const [a, b] = ['a.log', 'b.log'].map((name) => join(directory, name));
    writeFileSync(a, LOG);
    writeFileSync(b, LOG.replace('x12 0x0000002a', 'x12 0x0000002b'));
    expect((await runUscope(['diff', '--by', 'retired', a, a])).status).toBe(0);
    const different = await runUscope(['diff', '--by', 'retired', a, b]);
    expect(different.status).toBe(1);
    expect(different.out).toContain('first difference after 3 instructions: registers');
    const { path } = await convert(SPIKE, bytesOf(LOG));
    expect((await runUscope(['diff', '--by', 'retired', path, a])).out).toContain('7 the same');
    const wrong = await runUscope(['diff', '--by', 'retired', path, a, '--opt', 'begin=1']);
    expect(wrong.err).toContain('CONVERT_OPTION');
  });

  it('that ends early gives what it held; damage ends with a code or a trace', async () => {
    const all = parse(LOG);
    let length = 0;
    for (const cut of cuts(bytesOf(LOG))) {
      if (++length % 61 !== 0) continue;
      const found = await convert(SPIKE, cut).catch((error: unknown) => error);
      if (isUscopeError(found)) expect(found.code).toBe('CONVERT_UNKNOWN');
      else expect(found).toMatchObject({ isPartial: LOG[cut.length - 1] !== '\n' });
    }
    expect(all).toHaveLength(8);
    for (const damaged of flips(bytesOf(LOG), cases(40))) {
      const found = await convert(SPIKE, damaged).catch((error: unknown) => error);
      if (found instanceof Error) expect(isUscopeError(found) && found.code).toMatch(/^(CONVERT|OP)_/);
    }
  });
});

describe('QEMU', () => {
  const log = readFileSync(QEMU_LOG);

  it('gives instructions with the registers that they wrote', async () => {
    expect(await QEMU.sniff?.(log.subarray(0, 4096))).toBe(true);
    expect(await SPIKE.sniff?.(log.subarray(0, 4096))).toBe(false);
    const { path, context, isPartial } = await convert(QEMU, log, { start: '0x80000000' });
    expect(isPartial).toBe(false);
    expect(context.report.rows.find(({ what }) => what === 'other lines')).toBeUndefined();
    const events = await runUscope(['events', path, '--event', 'reg_write', '--limit', '3']);
    const values = [...events.out.matchAll(/index=(\d+) value=(\S+)/g)].map(([, index, value]) => [
      index,
      value,
    ]);
    expect(values.map(([index]) => index)).toEqual(['2', '2', '8']);
    expect((await runUscope(['timeline', path])).out).toContain('80000008 li s0,10');
  });

  it('of a program in user mode gives the same, without the lines of a machine', async () => {
    // Three rounds of: a0 += t0; t0 += 1; a byte of a0 stored and loaded as t4; t5 = t4 * t0.
    const { path, context, isPartial } = await convert(QEMU, readFileSync(QEMU_USER_LOG));
    expect(isPartial).toBe(false);
    expect(context.report.rows[0]).toMatchObject({ what: 'instructions', count: 36n });
    expect(context.report.rows.find(({ what }) => what === 'other lines')).toBeUndefined();
    const events = await runUscope(['events', path, '--event', 'reg_write']);
    const ofRegister = (register: number): number[] =>
      [...events.out.matchAll(/index=(\d+) value=(\S+)/g)].flatMap(([, index, value]) =>
        Number(index) === register ? [Number(value)] : [],
      );
    expect(ofRegister(30)).toEqual([2, 9, 24]);
    // The first and the last are the loads of 0.
    expect(ofRegister(10)).toEqual([0, 1, 3, 6, 0]);
  });

  it('of blocks of several instructions gives their addresses', async () => {
    const text =
      'IN: \n0x80000000:  00000013          nop\n0x80000004:  00000013          nop\n\nTrace 0: 0x1 [00000000/80000000/1/2] \nTrace 0: 0x1 [00000000/80000000/1/2] \n';
    const { context, path } = await convert(QEMU, bytesOf(text));
    expect(context.report.rows[0]).toMatchObject({ what: 'instructions', count: 4n });
    expect((await runUscope(['schema', path])).out).not.toContain('reg_write');
  });

  it('marks what trapped, and leaves out what did not run', async () => {
    const text =
      'IN: \n0x80000000:  00000013          nop\n0x80000004:  00000073          ecall\n0x80000008:  00000013          nop\n\nTrace 0: 0x1 [00000000/80000000/1/2] \nriscv_cpu_do_interrupt: hart:0, async:0, cause:0000000b, epc:0x80000004, tval:0x00000000, desc=machine_ecall\n';
    const { context } = await convert(QEMU, bytesOf(text));
    expect(context.report.rows.map(({ what, count }) => [what, Number(count)])).toEqual([
      ['instructions', 2],
      ['traps', 1],
    ]);
  });

  it('without code, or without what ran, says what to log; damage ends with a code or a trace', async () => {
    await expect(convert(QEMU, bytesOf('Trace 0: 0x1 [00000000/80000000/1/2] \n'))).rejects.toMatchObject({
      code: 'CONVERT_UNKNOWN',
      message: expect.stringContaining('no "IN:" lists the code'),
    });
    await expect(convert(QEMU, bytesOf('IN:\n0x80000000:  00000013  nop\n'))).rejects.toMatchObject({
      code: 'CONVERT_UNKNOWN',
      message: expect.stringContaining('exec included'),
    });
    for (const damaged of flips(log.subarray(0, 6000), cases(20))) {
      const found = await convert(QEMU, damaged).catch((error: unknown) => error);
      if (found instanceof Error) expect(isUscopeError(found) && found.code).toMatch(/^(CONVERT|OP)_/);
    }
  });
});
