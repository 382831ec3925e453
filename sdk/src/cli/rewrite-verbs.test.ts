import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { runUscope } from '../../../test/support/run-cli.js';
import type { Frame } from '../format/types.js';

let directory: string;
const at = (name: string): string => join(directory, name);
const run = (...args: string[]) => runUscope(args);

/** Three instructions, of which the one in slot 2 is squashed in no run; `late` cycles pass before the last retires. */
function program(late: number, lastPc = 0x8000_0008): Frame[] {
  const fetch = (cycle: number, slot: number, pc: number) =>
    frame(cycle * 1000, set(0, slot, 0, slot), set(0, slot, 1, pc), stage(slot, 0));
  return [
    fetch(0, 1, 0x8000_0000),
    fetch(1, 2, 0x8000_0004),
    fetch(2, 3, lastPc),
    frame(3000, annotate(1, 0), clear(0, 1), add(3, 0, 0, 1)),
    frame(4000, clear(0, 2), add(3, 0, 0, 1)),
    frame((4 + late) * 1000, clear(0, 3), add(3, 0, 0, 1)),
  ];
}

const write = (name: string, frames: readonly Frame[]): Promise<void> =>
  writeFile(
    at(name),
    new TraceBuilder({ schema: coreSchema, compression: 'lz4', dut: [['dut_name', name]] })
      .segment({ frames, strings: ['nop'] })
      .finalize().bytes,
  );

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-rewrite-'));
  await write('quick.uscope', program(1));
  await write('late.uscope', program(3));
  await write('other.uscope', program(1, 0x9000_0000));
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope diff', () => {
  it('ends with 0 for the same, 1 for different', async () => {
    const [quick, late] = [at('quick.uscope'), at('late.uscope')];
    expect(await run('diff', quick, quick)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/are the same\n/),
    });
    const differ = await run('diff', quick, late);
    expect(differ).toMatchObject({ status: 1, err: '' });
    expect(differ.out).toMatch(
      /first difference at 5000 ps, cycle 5: core0\/entities, the second trace has nothing there/,
    );
    expect(differ.out).toMatch(/ {2}< 5000 ps, cycle 5 {2}clear core0\/entities\[3\]\n/);
    expect(differ.out).toMatch(/ {2}> 7000 ps, cycle 7 {2}clear core0\/entities\[3\]\n/);
    expect(differ.out).toMatch(/last the same at 4000 ps, cycle 4\n/);
  });

  it('by retired instruction overlooks timing, but not what was executed', async () => {
    const by = (name: string, ...more: string[]) =>
      run('diff', '--by', 'retired', at('quick.uscope'), at(name), ...more);
    expect((await by('late.uscope')).status).toBe(0);
    const other = await by('other.uscope', '--json');
    expect(other.status).toBe(1);
    expect(JSON.parse(other.out)).toMatchObject({
      same: false,
      result: {
        by: 'retired',
        cores: [
          {
            core: 'core0',
            retiredA: 3,
            retiredB: 3,
            same: 2,
            first: {
              index: 2,
              fields: ['pc'],
              a: { pc: '2147483656', cycle: '5' },
              b: { pc: '2415919104', cycle: '5' },
              before: [{ values: { text: 'nop' } }, {}],
            },
          },
        ],
      },
    });
    expect((await by('other.uscope')).out).toMatch(/core0: first difference after 2 instructions: pc\n/);
  });

  it('by state shows the values', async () => {
    const { out, status } = await run('diff', '--by', 'state', at('quick.uscope'), at('late.uscope'));
    expect(status).toBe(1);
    expect(out).toMatch(/first difference at 5000 ps, cycle 5 \(4 values\):\n/);
    expect(out).toMatch(/core0\/retired\[0\]\.count {2}< 3 {2}> 2\n/);
    expect(out).toMatch(/at the end 0 of \d+ values differ\n/);
  });

  it.each([
    [['--by', 'luck'], /CLI_USAGE.*luck/],
    [['--context', 'few'], /CLI_USAGE.*few/],
    [['--core', 'a=b=c'], /CLI_USAGE.*NAME=NAME/],
    [['--compare', 'colour'], /CLI_USAGE.*colour/],
  ])('%j is wrong usage: status 2', async (args, message) => {
    const result = await run('diff', at('quick.uscope'), at('late.uscope'), ...args);
    expect(result).toMatchObject({ status: 2, out: '' });
    expect(result.err).toMatch(message);
  });

  it('a file that cannot be read is not a difference: its code is on stderr', async () => {
    await writeFile(at('cut.uscope'), (await readFile(at('quick.uscope'))).subarray(0, 900));
    expect(await run('diff', at('quick.uscope'), at('cut.uscope'))).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/^uscope: FORMAT_TRUNCATED: .*cut\.uscope/),
    });
    expect((await run('diff', at('none.uscope'), at('quick.uscope'))).err).toMatch(
      /READER_OPEN.*none\.uscope/,
    );
  });
});

describe('uscope slice', () => {
  it('writes a trace that differs in nothing but its range', async () => {
    const result = await run('slice', at('late.uscope'), '--cycles', '1:4', '-o', at('slice.uscope'));
    expect(result).toMatchObject({
      status: 0,
      out: '',
      err: expect.stringMatching(/slice\.uscope: 9 items in 3 frames/),
    });
    const range = ['--cycles', '1:4'];
    expect((await run('diff', at('late.uscope'), at('slice.uscope'), ...range)).status).toBe(0);
    expect((await run('diff', '--by', 'state', at('late.uscope'), at('slice.uscope'), ...range)).status).toBe(
      0,
    );
    expect(JSON.parse((await run('info', '--json', at('slice.uscope'))).out).dut).toEqual({
      dut_name: 'late.uscope',
      'uscope.slice_of': 'late.uscope',
      'uscope.slice_from_ps': '1000',
      'uscope.slice_to_ps': '4000',
    });
    expect((await run('verify', at('slice.uscope'))).status).toBe(0);
  });

  it('never replaces its input, nor anything else unless told to', async () => {
    const before = await readFile(at('quick.uscope'));
    for (const more of [[], ['--force']]) {
      const onto = await run(
        'slice',
        at('quick.uscope'),
        '-o',
        join(directory, '.', 'quick.uscope'),
        ...more,
      );
      expect(onto).toMatchObject({ status: 1, err: expect.stringMatching(/WRITER_EXISTS.*input/) });
    }
    expect(await readFile(at('quick.uscope'))).toEqual(before);
    await writeFile(at('taken'), 'mine');
    expect((await run('slice', at('quick.uscope'), '-o', at('taken'))).err).toMatch(/WRITER_EXISTS.*--force/);
    expect(await readFile(at('taken'), 'utf8')).toBe('mine');
    expect((await run('slice', at('quick.uscope'), '-o', at('taken'), '--force')).status).toBe(0);
    expect((await run('diff', at('quick.uscope'), at('taken'))).status).toBe(0);
  });

  it('leaves nothing behind when it fails', async () => {
    const bytes = await readFile(at('quick.uscope'));
    bytes[bytes.indexOf('uSEG') + 100] ^= 0xff;
    await writeFile(at('damaged.uscope'), bytes);
    const result = await run('slice', at('damaged.uscope'), '-o', at('never.uscope'));
    expect(result).toMatchObject({
      status: 1,
      err: expect.stringMatching(/FORMAT_CHECKSUM.*damaged\.uscope/),
    });
    expect((await readdir(directory)).filter((name) => /never|tmp/.test(name))).toEqual([]);
  });

  it.each([
    [['--from', '9us'], 1, /READER_RANGE/],
    [['--from', '9', '--to', '3'], 2, /CLI_USAGE/],
    [['--cycles', 'bus:1:2'], 2, /READER_NAME.*bus/],
    [['--compression', 'rar'], 2, /CLI_USAGE.*rar/],
    [['--small', '--compression', 'lz4'], 2, /CLI_USAGE.*--small writes zstd/],
  ])('%j: status %i', async (args, status, message) => {
    const result = await run('slice', at('quick.uscope'), '-o', at('nothing'), ...args);
    expect(result.status).toBe(status);
    expect(result.err).toMatch(message);
  });
});

describe('uscope merge', () => {
  it('writes one trace, a scope for each file, and says which', async () => {
    const result = await run(
      'merge',
      at('quick.uscope'),
      at('late.uscope'),
      '-o',
      at('soc.uscope'),
      '--json',
    );
    expect(result.status).toBe(0);
    expect(JSON.parse(result.out)).toMatchObject({
      frames: '12',
      inputs: [
        { name: 'quick', scope: 'quick.uscope' },
        { name: 'late', scope: 'late.uscope' },
      ],
    });
    for (const name of ['quick', 'late']) {
      const core = `core0=${name}.uscope/core0`;
      const back = ['diff', at(`${name}.uscope`), at('soc.uscope'), '--core', core];
      expect((await run(...back)).status).toBe(0);
      expect((await run(...back, '--by', 'state')).status).toBe(0);
      expect((await run(...back, '--by', 'retired')).status).toBe(0);
    }
    expect(await run('verify', at('soc.uscope'))).toMatchObject({ status: 0 });
  });

  it('takes names for the scopes', async () => {
    const files = [at('quick.uscope'), at('late.uscope')];
    const result = await run('merge', ...files, '-o', at('named.uscope'), '--scope', 'a', '--scope', 'b');
    expect(result).toMatchObject({ status: 0, err: expect.stringMatching(/\n {2}a: 16 items of quick\n/) });
    const tooMany = ['--scope', 'x', '--scope', 'y', '--scope', 'z'];
    expect((await run('merge', ...files, '-o', at('no.uscope'), ...tooMany)).status).toBe(2);
  });

  it('names the file that is damaged, whichever it is', async () => {
    const result = await run('merge', at('damaged.uscope'), at('late.uscope'), '-o', at('never.uscope'));
    expect(result).toMatchObject({
      status: 1,
      err: expect.stringMatching(/FORMAT_CHECKSUM.*damaged\.uscope/),
    });
  });
});
