/** Names of a waveform, whatever is in them, and vectors that simulators write bit by bit. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { convertWave as convert, valuesOf } from '../../../../../test/support/wave-conversion.js';
import { memorySource } from '../../../reader/index.js';
import { VcdTrace } from '../format.js';

const vector = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../test/vectors/vcd/${name}`, import.meta.url)), 'utf8');
const VALID = 'soc/core_i/valid_o';
const CHANNEL = 'noc/i_router/channel_i[hdr][dst_id][x]';
const PACKET = '(0)(1)_W_flit_in.packetId';

describe('quotation marks', () => {
  it('make any name possible wherever a name is', async () => {
    const map = `waves: 1
clock: '"dut.clk"'
reset: '!"dut.<const1>"'
scopes:
  top:
    in: dut
    storages:
      dst_x: {fields: {x: '"${CHANNEL}"', low: '"${CHANNEL}"[1:0]'}}
      packet: '"${PACKET}"'
    counters:
      valid: '"${VALID}"'
      s1: '"#s1_enable"'
      plru: "'maybe_plrus.plrus:0.plru_acc_en'"
      go: '"proj::pipe::ready_valid.go" & !"#s1_enable"'
      const1: '"<const1>"'
    events:
      hit: {when: '"${VALID}" & "${CHANNEL}" == 3', fields: {id: '"${PACKET}"'}}
    fsms: {at: {state: '"${CHANNEL}"'}}
    channels: {c: {valid: '"${VALID}"', ready: '"#s1_enable"', fields: {x: '"${CHANNEL}"[0]'}}}
`;
    const result = await convert(Buffer.from(vector('vcd-names.vcd')), map);
    expect(valuesOf(result, 'const1').length).toBe(8);
    expect(valuesOf(result, 'valid').length).toBe(4);
    expect(result.lines.filter((line) => line.includes('hit'))).toEqual(['3500 top/hit id=9']);
    expect(result.lines.filter((line) => line.includes('low'))).toEqual(
      [0, 1, 2, 3, 0, 1, 2, 3].map((n, cycle) => `${500 + 1000 * cycle} dst_x[0].low ${n}`),
    );
  });

  it('are what a condition without them asks for', async () => {
    const map = `waves: 1\nclock: dut.clk\nscopes: {top: {counters: {v: '${VALID}'}}}\n`;
    await expect(convert(Buffer.from(vector('vcd-names.vcd')), map)).rejects.toMatchObject({
      code: 'CONVERT_OPTION',
      message: expect.stringContaining('quotation marks'),
    });
  });

  it('are in what --guess proposes', async () => {
    const text = `$scope module t $end $var wire 1 ! clk $end $var wire 1 " a/valid $end $var wire 1 # a/ready $end
$upscope $end $enddefinitions $end\n#0\n0!\n1"\n1#\n#5\n1!\n#10\n0!\n#15\n1!\n#20\n0!\n`;
    const map = await new VcdTrace(memorySource(Buffer.from(text))).guess();
    expect(parse(map).scopes.t.channels.a_).toMatchObject({ valid: '"a/valid"', ready: '"a/ready"' });
    expect((await convert(Buffer.from(text), map)).report).toContain('kept 2 transfers of channels');
  });
});

/** The same waveform with a variable for each bit, as Questa, Riviera and VCS write it. */
function bitByBit(text: string, separator: string, isLsbFirst = false): string {
  let next = 0;
  const codes = new Map<string, string[]>();
  const declared = text.replace(
    /\$var wire (\d+) (\S+) (\S+) \[\d+:\d+\] \$end/g,
    (_, width: string, code: string, name: string) => {
      const bits = Array.from({ length: Number(width) }, () => `z${(next++).toString(36)}`);
      codes.set(code, bits);
      const lines = bits.map((bit, index) => `$var wire 1 ${bit} ${name}${separator}[${index}] $end`);
      return (isLsbFirst ? lines : lines.reverse()).join('\n');
    },
  );
  return declared.replace(/^b([01xz]+) (\S+)$/gm, (line, digits: string, code: string) => {
    const bits = codes.get(code);
    if (!bits) return line;
    const fill = /^[xz]/.test(digits) ? digits[0] : '0';
    return [...digits.padStart(bits.length, fill)]
      .reverse()
      .map((digit, n) => `${digit}${bits[n]}`)
      .join('\n');
  });
}

const RVFI = vector('rvfi.yaml');
const lined = async (text: string, map = RVFI) => await convert(Buffer.from(text), map);

describe('vectors that are written bit by bit', () => {
  it.each([
    ['rvfi-debug.vcd', ' ', false],
    ['rvfi-debug.vcd', '', false],
    ['rvfi-debug.vcd', ' ', true],
    ['rvfi-nret2.vcd', ' ', false],
  ])('%s with "%s" before the index, low bit first: %s', async (name, separator, isLsbFirst) => {
    const whole = await lined(vector(name));
    const split = await lined(bitByBit(vector(name), separator, isLsbFirst));
    expect(split.lines).toEqual(whole.lines);
    expect(split.report).toEqual(whole.report);
    expect(split.report.join()).not.toContain('pins of RVFI');
    const guessed = await new VcdTrace(memorySource(Buffer.from(bitByBit(vector(name), separator)))).guess();
    expect(parse(guessed).scopes.core0).toMatchObject({ rvfi: 'rvfi_' });
  });

  it('the case of a debugger has 11 instructions, an interrupt and one violation', async () => {
    const { lines, report } = await lined(vector('rvfi-debug.vcd'));
    const of = (event: string) => lines.filter((line) => line.includes(`core0/${event} `));
    expect(report).toContain('kept 11 instructions of RVFI');
    expect(lines.filter((line) => line.includes('committed_insns'))).toHaveLength(10);
    expect(of('trap')).toEqual([expect.stringContaining('cause=11')]);
    expect(of('interrupt')).toEqual([expect.stringMatching(/epc=268,target=64$/)]);
    expect(of('violation')).toEqual([expect.stringMatching(/found=2048$/)]);
    const orders = (await lined(vector('rvfi-nret2.vcd'))).lines.filter((line) => line.includes('.order '));
    expect(orders.map((line) => Number(line.split(' ').at(-1)))).toEqual([0, 1, 2, 4, 3, 5]);
  });

  it('that miss a bit are none; declared the other way round, they are read so', async () => {
    const head = '$var wire 1 ! clk $end\n$var wire 1 p d [1] $end\n$var wire 1 q d [0] $end\n';
    const steps = '$enddefinitions $end\n#0\n0!\n1p\n0q\n0r\n0s\n1t\n#5\n1!\n#10\n0!\n';
    const up = '$var wire 1 r u [0] $end\n$var wire 1 s u [1] $end\n$var wire 1 t u [2] $end\n';
    const map = 'waves: 1\nclock: clk\nscopes: {top: {storages: {d: d, u: u, one: "u[2]", two: "u[1:2]"}}}\n';
    const { lines } = await lined(`${head}${up}${steps}`, map);
    expect(lines).toEqual(['5 d[0].value 2', '5 u[0].value 1', '5 one[0].value 1', '5 two[0].value 1']);
    const gap = up.replace('$var wire 1 s u [1] $end\n', '');
    await expect(lined(`${head}${gap}${steps}`, map)).rejects.toMatchObject({ code: 'CONVERT_OPTION' });
  });
});

describe('what the map may have and the waveform has not', () => {
  it.each(['order', 'rd_wdata', 'rs1_addr', 'mem_addr', 'mem_wmask', 'pc_wdata', 'trap'])(
    'is reported: rvfi_%s, and makes no violations up',
    async (pin) => {
      const { lines, report } = await lined(vector('rvfi-debug.vcd').replace(`rvfi_${pin} `, 'nothing '));
      expect(report).toContain('dropped 1 pins of RVFI that tb.uut.rvfi_ does not have');
      const violations = lines.filter((line) => line.includes('core0/violation '));
      expect(violations.length).toBeLessThanOrEqual(1);
    },
  );
});

describe('many words', () => {
  it('130,000 of them are refused or taken, but do not end with a stack that is too small', async () => {
    const vars = Array.from(
      { length: 130_000 },
      (_, n) => `$var wire 8 a${n.toString(36)} m [${n}] [7:0] $end`,
    );
    const text = `$var wire 1 ! clk $end\n${vars.join('\n')}\n$enddefinitions $end\n#0\n0!\n#5\n1!\n`;
    const map = 'waves: 1\nclock: clk\nscopes: {top: {words: {m: "m[*]"}}}\n';
    const error = await lined(text, map).catch((caught: unknown) => caught);
    expect(error).not.toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ code: 'CONVERT_OPTION', message: expect.stringContaining('130000 words') });
  });
});
