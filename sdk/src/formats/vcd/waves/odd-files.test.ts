/** Waveforms as tools write them that do not keep to the standard: what is odd is read as other readers do, and counted. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contextOf } from '../../../../../test/support/foreign.js';
import { VcdText } from '../../../../../test/support/vcd-text.js';
import {
  convertWave as convert,
  valuesOf,
  type WaveResult,
} from '../../../../../test/support/wave-conversion.js';
import { memorySource } from '../../../reader/index.js';
import { FORMAT } from '../format.js';

const vector = (name: string): Uint8Array =>
  readFileSync(fileURLToPath(new URL(`../../../../../test/vectors/vcd/${name}`, import.meta.url)));
const textOf = (name: string): string => new TextDecoder().decode(vector(name));

const ofCase = (name: string): Promise<WaveResult> =>
  convert(vector(`vcd-${name}.vcd`), textOf(`vcd-${name}.yaml`));
const TOP = 'waves: 1\nclock: clk\nscopes:\n  top:\n';

describe('the kind of a change', () => {
  it('decides, whatever the declaration says; \\040 is a blank', async () => {
    const result = await ofCase('strings');
    expect(valuesOf(result, 'state')).toEqual(['"idle"', '"running"', '"done"']);
    expect(valuesOf(result, 'text')).toEqual(['"    "', '"En lång räv"', JSON.stringify('3° "x"')]);
    expect(valuesOf(result, 'fsm')).toEqual(['"IDLE"', '"BUSY"', '"IDLE"']);
    expect(valuesOf(result, 'n')).toEqual(['0', '4294967294']);
    expect(result.report.join()).not.toContain('x or z');
  });

  const mixed = (kind: string, width: number, ...values: string[]) => {
    const vcd = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'a', width, kind },
    ]);
    values.forEach((a, n) => {
      vcd
        .step(10 * n, { clk: 0 })
        .raw(`${a}"\n`)
        .step(10 * n + 5, { clk: 1 });
    });
    return convert(vcd.bytes, `${TOP}    storages: {a: a}\n`);
  };

  it.each([
    ['integer', 32, ['r1.5 ', 'r-2 '], ['"1.5"', '"-2"']],
    ['wire', 1, ['son ', 'b0 ', '1'], ['"on"', '"0"', '"1"']],
    ['wire', 100, ['sa ', 'r2 '], ['"a"', '"2"']],
    ['string', 1, ['b101 ', '1', 'x'], ['"101"', '"1"', '"x"']],
    ['real', 64, ['b101 ', 'snone ', 'r1 '], ['"101"', '"none"', '"1"']],
    ['wire', 8, ['x', '1', 'b11 '], ['0', '1', '3']],
  ])('a %s of %i with %j', async (kind, width, values, expected) => {
    const result = await mixed(kind, width, ...values);
    expect(valuesOf(result, 'a')).toEqual(expected);
    expect(result.report.filter((row) => row.startsWith('dropped'))).toEqual([]);
  });

  it.each([8, 40])(
    'that is none of a vector of %i bits is refused, left of its width, too',
    async (width) => {
      const digits = `2${'0'.repeat(width)}`;
      await expect(mixed('wire', width, `b${digits} `)).rejects.toMatchObject({ code: 'CONVERT_FORMAT' });
    },
  );

  it('that comes too late for a field of bits is counted as that, not as x or z', async () => {
    const result = await mixed(
      'wire',
      8,
      ...Array.from({ length: 20 }, (_, n) => `b${n.toString(2)} `),
      // More than is read before the fields have their types.
      `$comment ${'_'.repeat(300_000)} $end slate `,
      'b1 ',
    );
    expect(valuesOf(result, 'a').slice(-3)).toEqual(['19', '0', '1']);
    expect(result.report).toContain('dropped 1 texts and reals on signals of bits');
    expect(result.report.join()).not.toContain('x or z');
  });

  it.each([
    ['counters: {x: a == 0}', 'has texts'],
    ['fsms: {x: {state: a, values: {Z: 0}}}', 'has texts'],
    ['fifos: {x: {valid: a}}', 'has texts'],
    ['words: {x: {packed: a}}', 'has texts'],
    ['storages: {x: "a[0]"}', 'no bits'],
  ])('%s of a text is refused', async (entry, what) => {
    const vcd = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'a', width: 8 },
    ]);
    vcd.step(0, { clk: 0 }).raw('sIDLE "\n').step(5, { clk: 1 }).step(10, { clk: 0 });
    await expect(convert(vcd.bytes, `${TOP}    ${entry}\n`)).rejects.toMatchObject({
      code: 'CONVERT_OPTION',
      message: expect.stringContaining(what),
    });
  });
});

describe('what other readers take', () => {
  it('0b in front of digits', async () => {
    const result = await ofCase('0b');
    expect(valuesOf(result, 'data')).toEqual(['0', '5', '6', '7']);
    expect(result.report).toContain('approximated 14 vectors that begin with 0b');
  });

  it('times with a fraction, of which only what is not 0 is counted', async () => {
    const map = 'waves: 1\nclock: sys_clk\nscopes: {top: {storages: {n: count}}}\n';
    const result = await convert(vector('vcd-frac.vcd'), map, { unit: '1ns' });
    expect(result.lines).toEqual([0, 1, 2, 3, 4, 5].map((n) => `${5000 + 10_000 * n} n[0].value ${n}`));
    expect(result.report.join()).not.toContain('between two units');
    const odd = await convert(Buffer.from(textOf('vcd-frac.vcd').replace('#15.0', '#15.75')), map);
    expect(odd.report).toContain('approximated 1 times between two units');
    expect(odd.lines[1]).toBe('15 n[0].value 1');
  });

  it.each([
    ['244 ns', 1, 488_000, 976_000],
    ['6666ps', 1, 2 * 6666, 4 * 6666],
    ['10 us', 0, 20_000_000, 40_000_000],
  ])('a unit of %s', async (unit, odd, first, period) => {
    const text = textOf('vcd-ts244.vcd').replace('244 ns', unit);
    const result = await convert(Buffer.from(text), textOf('vcd-ts244.yaml'));
    expect(result.lines[0]).toBe(`${first} pc[0].value 256`);
    expect(result.periods).toEqual([period]);
    expect(result.report.filter((row) => row.includes('time scale')).length).toBe(odd);
  });

  it('a unit of 1 s beyond 2^53 ps, whose cycles need --opt unit', async () => {
    const text = textOf('vcd-ts244.vcd').replace('244 ns', '1s').replace('#20', '#20000');
    const map = `${textOf('vcd-ts244.yaml')}    counters: {edges: "!gb.clk"}\n`;
    const bytes = Buffer.from(`${text}#40000\n1!\n`);
    const whole = await convert(bytes, map);
    expect(whole.lines.at(-1)).toBe('40000000000000000 edges[0].count 1');
    expect(whole.periods).toEqual([0]);
    expect(whole.warnings).toEqual([expect.stringMatching(/period of 4000000000000 ps.*--opt unit=1ns/)]);
    const inNs = await convert(bytes, map, { unit: '1ns' });
    expect(inNs.lines.at(-1)).toBe('40000000 edges[0].count 1');
    expect([inNs.periods, inNs.warnings]).toEqual([[4000], []]);
    await expect(convert(Buffer.from(`${text}#40000000\n1!\n`), map)).rejects.toMatchObject({
      code: 'CONVERT_UNSUPPORTED',
      message: expect.stringContaining('--opt unit=1ns'),
    });
    await expect(convert(bytes, map, { unit: '1 parsec' })).rejects.toMatchObject({ code: 'CONVERT_OPTION' });
  });

  it('a scope without a name, and an $upscope too many', async () => {
    const result = await ofCase('noscope');
    expect(result.lines.map((line) => line.split(' ')[0])).toEqual(['5000', '15000', '25000', '45000']);
    expect(result.report).toContain('approximated 1 scopes without a name');
    const more = textOf('vcd-noscope.vcd').replace('$enddef', '$upscope $end\n$enddef');
    expect((await convert(Buffer.from(more), textOf('vcd-noscope.yaml'))).report).toContain(
      'approximated 1 $upscope without $scope',
    );
  });

  it('changes of codes that nothing declares, and keywords that nobody knows, are left out and counted', async () => {
    const map = textOf('vcd-bom.yaml');
    const result = await convert(vector('vcd-undeclared.vcd'), map);
    expect(valuesOf(result, 'n')).toEqual(['0', '10']);
    expect(result.report).toContain('dropped 2 changes of a code that no $var declares');
    const odd = textOf('vcd-undeclared.vcd').replace('#10', '$odd 1! b1 "\n$end\n#10');
    expect((await convert(Buffer.from(odd), map)).report).toContain('dropped 1 keywords that are unknown');
  });

  it('a mark of UTF-8, CRLF, and no end of the last line', async () => {
    expect(valuesOf(await ofCase('bom'), 'n')).toEqual(['0', '10']);
    const text = textOf('vcd-bom.vcd')
      .replace(/\r?\n/g, '\r\n')
      .replace(/#20[\s\S]*$/, '#20\r\n0!\r\n#25\r\n1!');
    const result = await convert(
      Buffer.from(`\ufeff${text.replace('\ufeff', '')}`),
      `${textOf('vcd-bom.yaml')}    counters: {edges: '!top.clk'}\n`,
    );
    expect(valuesOf(result, 'edges').length).toBe(3);
    expect([result.isPartial, result.report]).toEqual([
      false,
      expect.arrayContaining(['approximated 1 a last change without an end of line']),
    ]);
  });

  it('definitions without changes', async () => {
    const foreign = await FORMAT.open?.(memorySource(vector('vcd-headeronly.vcd')), new Map());
    const [{ rows }] = (await foreign?.info(contextOf())) ?? [];
    expect(rows).toContainEqual(['variables', '2']);
    expect((await ofCase('headeronly')).lines).toEqual([]);
  });

  it('a few things at once', async () => {
    const result = await ofCase('mess');
    expect(result.lines.filter((line) => line.includes('edges')).map((line) => line.split(' ')[0])).toEqual([
      '1000',
      '3000',
      '12000',
    ]);
    expect(valuesOf(result, 'd')).toEqual(['0', '4', '5']);
  });
});
