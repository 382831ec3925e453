/** Logs of Spike and QEMU in the shapes of several versions, with what is in them; and lines that nobody understands, at every place. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contextOf } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { memorySource } from '../../reader/index.js';
import type { ForeignFormat } from '../common/foreign-format.js';
import { FORMAT as QEMU } from '../qemu/format.js';
import { FORMAT as SPIKE } from '../spike/format.js';
import type { RetiredRecord } from './log.js';

limitOfFile(MANY_CASES_MS);

const VECTORS = new URL('../../../../test/vectors/', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, VECTORS)), 'utf8');

async function open(format: ForeignFormat, text: string, options: Record<string, string> = {}) {
  const context = contextOf(options);
  const bytes = new TextEncoder().encode(text);
  expect(await format.sniff?.(bytes)).toBe(true);
  const log = await format.open!(memorySource(bytes, 'log'), context.options);
  return { log, context };
}

/** The instructions, with numbers as hexadecimal text, and what `info` says. */
async function contents(format: ForeignFormat, text: string, options: Record<string, string> = {}) {
  const { log, context } = await open(format, text, options);
  const records: Record<keyof RetiredRecord, never>[] = [];
  for await (const line of log.dump({ json: true })) records.push(JSON.parse(line));
  const [{ rows }] = await log.info(context);
  return { records, info: Object.fromEntries(rows) };
}

const column = (records: readonly Record<string, unknown>[], name: string): unknown[] =>
  records.map((record) => record[name]);

describe('Spike', () => {
  it('a loop on itself counts as often as it ran, and an interrupt comes after it', async () => {
    const { records } = await contents(SPIKE, read('spike/executed-l.log'));
    expect(records).toHaveLength(16);
    expect(column(records.slice(7, 13), 'pc')).toEqual(new Array(6).fill('0x80000008'));
    expect(records[13]).toMatchObject({
      pc: '0x80000100',
      interrupt: { cause: '0x7', epc: '0x80000008' },
    });
    expect(column(records, 'interrupt').filter((one) => one !== null)).toHaveLength(1);
  });

  it.each([
    ['6', {}, 16],
    ['10', {}, 20],
    ['10', { counts: 'hexadecimal' }, 26],
    // A letter anywhere in the log decides for all counts.
    ['1a', {}, 36],
  ])('counts of %s with %j', async (count, options, instructions) => {
    const text = read('spike/executed-l.log').replace('Executed 6 times', `Executed ${count} times`);
    const { records } = await contents(SPIKE, text, options);
    expect(records).toHaveLength(instructions);
  });

  it('counts before the letter that decides are read again', async () => {
    const loop = (n: string) =>
      `core   0: 0x80000000 (0x0000006f) j pc + 0x0\ncore   0: Executed ${n} times\n`;
    const { records } = await contents(
      SPIKE,
      `${loop('10')}core   0: 0x80000004 (0x00000013) nop\n${loop('a')}`,
    );
    expect(records).toHaveLength(16 + 1 + 10);
  });

  it('a log of some bytes does not become a trace of any size', async () => {
    const { log, context } = await open(
      SPIKE,
      'core   0: 0x80000000 (0x0000006f) j pc + 0x0\ncore   0: Executed 99999999999 times\n',
    );
    const [{ rows }] = await log.info(context);
    expect(Object.fromEntries(rows)).toMatchObject({ instructions: '10000001' });
  });

  it('counts do not multiply what has its commit lines', async () => {
    const one = 'core   0: 3 0x80000000 (0x0000006f)\n';
    const text = `core   0: 0x80000000 (0x0000006f) j pc + 0x0\n${one}${one}${one}core   0: Executed 3 times\n`;
    expect((await contents(SPIKE, text)).records).toHaveLength(3);
  });

  it('names of traps above 15', async () => {
    const { records } = await contents(SPIKE, read('spike/hypervisor.log'));
    expect(records).toHaveLength(12);
    const traps = records.filter(({ trap }) => trap !== null);
    expect(column(traps, 'trap')).toEqual(
      [
        [22, 0x18002573],
        [21, 0x40000],
        [23, 0x41000],
        [20, 0x80201000],
        [18, 3],
        [16, 0],
      ].map(([cause, value]) => ({ cause: `0x${cause.toString(16)}`, value: `0x${value.toString(16)}` })),
    );
    expect(column(traps, 'bits').map((bits) => bits === null)).toEqual([
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('commit lines that name no hart', async () => {
    const { records } = await contents(SPIKE, read('spike/old-commit.log'));
    expect(column(records, 'privilege')).toEqual([3, 3, 3, 3, 3]);
    const registers = column(records, 'registers') as { file: string; index: number; value: string }[][];
    expect(registers.map(([one]) => one && `${one.file}${one.index}=${one.value}`)).toEqual([
      'x5=0x80000000',
      'x10=0x80000014',
      'x11=0x3ff8000000000000',
      'f6=0x3ff8000000000000',
      undefined,
    ]);
    // Without disassembly lines, too.
    const commits = read('spike/old-commit.log').replace(/^core .*\n/gm, '');
    expect((await contents(SPIKE, commits)).records).toHaveLength(5);
  });

  it('several harts, padded names, a vector configuration', async () => {
    const { records, info } = await contents(SPIKE, read('spike/mixed.log'));
    expect(records).toHaveLength(8);
    expect(info).toMatchObject({ harts: '0 1 10', 'of them trapped': '0' });
    // This project's disassembler does not know vectors.
    expect(column(records, 'text').filter((text) => text !== null)).toEqual([
      'vsetvli t0, zero, e32, m1, ta, ma',
      'vadd.vv v3, v2, v1',
    ]);
  });
});

it('tools show the text of the log where they do not know the code', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-retired-'));
  const [log, trace] = [join(directory, 'a.log'), join(directory, 'a.uscope')];
  try {
    writeFileSync(log, read('spike/mixed.log'));
    expect((await runUscope(['convert', log, '-o', trace])).status).toBe(0);
    const shown = (await runUscope(['timeline', trace, '--core', 'core1'])).out;
    expect(shown).toContain('vadd.vv v3, v2, v1');
    expect(shown).not.toContain('.word');
    // Without disassembly lines nothing has its name: what the vectors hold is none.
    writeFileSync(log, read('spike/mixed.log').replace(/^core +\d+: 0x.*\n/gm, ''));
    expect((await runUscope(['convert', log, '-o', trace, '--force'])).status).toBe(0);
    expect((await runUscope(['timeline', trace, '--core', 'core1'])).out).toContain('.word 0x022081d7');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describe('QEMU', () => {
  it.each(['plain', 'reset', 'vpu'])(
    '%s.log: instructions with the registers that they wrote',
    async (name) => {
      const { records, info } = await contents(QEMU, read(`qemu/${name}.log`));
      expect(records).toHaveLength(6);
      expect((column(records, 'registers') as unknown[][]).flat()).toHaveLength(3);
      expect(info['other lines']).toBe({ plain: '0', reset: '2', vpu: '8' }[name]);
    },
  );

  it('two processes at one address have different code', async () => {
    const { records, info } = await contents(QEMU, read('qemu/twoproc.log'));
    const codes = records.filter(({ pc }) => pc === '0x10000').map(({ bits }) => bits);
    expect(codes).toEqual([0x00100513, 0x00200513, 0x00100513, 0x00200513]);
    expect(info['width of addresses']).toBe('64 bits');
  });

  it('a block at a host address that was used before is the one that was listed last', async () => {
    const block = (code: string) =>
      `IN: \n0x80000000:  ${code}          x\n\nTrace 0: 0x7f00 [00000000/80000000/1/2] \n`;
    const { records } = await contents(QEMU, block('00100513') + block('00200513'));
    expect(column(records, 'bits')).toEqual([0x00100513, 0x00200513]);
  });

  it('an interrupt is of the block after it', async () => {
    const text = read('qemu/plain.log').replace(
      /(Trace 0: [^\n]*80000004[\s\S]*?x31\S* +\S+\n)/,
      '$1riscv_cpu_do_interrupt: hart:0, async:1, cause:00000007, epc:0x80000008, tval:0x00000000, desc=m_timer\n',
    );
    const { records } = await contents(QEMU, text);
    const at = records.findIndex(({ interrupt }) => interrupt !== null);
    expect(records[at - 1]).toMatchObject({ pc: '0x80000004' });
  });
});

const ODD: readonly (readonly [ForeignFormat, log: string, lines: readonly string[]])[] = [
  [
    SPIKE,
    'spike/hypervisor.log',
    [
      'core   0: what',
      'core   0: 3 0x80000000 (0x00000013 x1 0x1',
      'core   0: exception trap_bored, epc 0x80000000',
      'core   70000: 3 0x80000000 (0x00000013)',
      '3 0x00000000800000zz (0x00000013)',
    ],
  ],
  [
    QEMU,
    'qemu/plain.log',
    [
      'Trace 0: 0x1 [00000000/8000',
      '0x80000000:  0000zz13          nop',
      ' x1/ra    zzz',
      'riscv_cpu_do_interrupt: hart:70000, async:0, cause:2, epc:0x1, tval:0x0',
    ],
  ],
];

describe.each(ODD)('$name', (format, path, odd) => {
  const lines = read(path).split('\n').slice(0, -1);

  it.each([...odd, 'output of the program', ''])('%j costs itself, at every place', async (line) => {
    const plain = await contents(format, read(path));
    const isData = odd.includes(line);
    for (let at = 0; at <= lines.length; at++) {
      const text = `${[...lines.slice(0, at), line, ...lines.slice(at)].join('\n')}\n`;
      const { records, info } = await contents(format, text);
      expect([at, records.length]).toEqual([at, plain.records.length]);
      expect(column(records, 'registers')).toEqual(column(plain.records, 'registers'));
      const offset = new TextEncoder().encode(lines.slice(0, at).join('\n')).length + Math.min(at, 1);
      expect(info['lines not understood']).toBe(
        isData ? `1, the first, at offset ${offset}, is ${JSON.stringify(line)}` : '0',
      );
      const others = Number(plain.info['other lines']) + (isData || line === '' ? 0 : 1);
      expect(info['other lines']).toBe(String(others));
    }
  });

  it('above a share the import fails, with the place of the first', async () => {
    const text = `${lines.join('\n')}\n${`${odd[0]}\n`.repeat(lines.length)}`;
    const { log, context } = await open(format, text);
    await expect(log.info(context)).rejects.toMatchObject({
      code: 'CONVERT_FORMAT',
      message: expect.stringContaining(JSON.stringify(odd[0])),
      place: { offset: lines.join('\n').length + 1 },
    });
    const lenient = await open(format, text, { unknown: '100' });
    await lenient.log.info(lenient.context);
    const strict = await open(format, `${lines.join('\n')}\n${odd[0]}\n`, { unknown: '0' });
    await expect(strict.log.info(strict.context)).rejects.toMatchObject({ code: 'CONVERT_FORMAT' });
  });
});
