/** The command line of conversion, and of looking at files of other formats, on small STF files of our own. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  add,
  clear,
  coreSchema,
  frame,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { jsonLinesOf, linesOf, runUscope } from '../../../test/support/run-cli.js';

// Whole traces are converted, and back.
limitOfFile(MANY_CASES_MS);

const STF = fileURLToPath(new URL('../../../test/vectors/stf/every-record.stf', import.meta.url));
let directory: string;
const at = (name: string): string => join(directory, name);
const run = (...args: string[]) => runUscope(args);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-convert-'));
  const frames = [
    frame(0, set(0, 1, 0, 1), set(0, 1, 1, 0x8000_0000), stage(1, 0)),
    frame(1000, clear(0, 1), add(3, 0, 0, 1)),
  ];
  const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
  await writeFile(at('core.uscope'), builder.segment({ frames }).finalize().bytes);
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope convert', () => {
  it('writes µScope from a file told by its content, and the file again from that', async () => {
    const there = await run('convert', STF, '-o', at('there.uscope'));
    expect(there).toMatchObject({ status: 0, out: '' });
    expect(there.err).toMatch(
      /there\.uscope: \d+ bytes\nstf to uscope:\n {2}kept +\d+ {2}IDENTIFIER records: as it is\n/,
    );
    expect(await run('verify', at('there.uscope'))).toMatchObject({ status: 0 });
    expect(await run('convert', at('there.uscope'), '-o', at('back.stf'))).toMatchObject({ status: 0 });
    expect(await readFile(at('back.stf'))).toEqual(await readFile(STF));
  });

  it('goes from one format to another by way of µScope and leaves nothing between them', async () => {
    const { status, out } = await run('convert', STF, '-o', at('same.stf'), '--json');
    expect(status).toBe(0);
    const { steps, outputs, partial } = JSON.parse(out);
    expect(steps.map(({ from, to }: { from: string; to: string }) => [from, to])).toEqual([
      ['stf', 'uscope'],
      ['uscope', 'stf'],
    ]);
    expect(outputs).toEqual([{ path: at('same.stf'), bytes: (await readFile(STF)).length }]);
    expect(partial).toBe(false);
    expect(await readFile(at('same.stf'))).toEqual(await readFile(STF));
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('notes what the output cannot hold; with --strict that is status 3, unless it was waived', async () => {
    const plain = ['convert', at('core.uscope'), '-o', at('core.kanata'), '--force'];
    const noted = await run(...plain);
    expect(noted.status).toBe(0);
    expect(noted.err).toMatch(/note: dropped: [^;]+\n/);
    expect((await run(...plain, '--waive', 'all')).err).not.toContain('note: dropped');
    const args = [...plain, '--strict'];
    const dropping = await run(...args);
    expect(dropping.status).toBe(3);
    expect(dropping.err).toMatch(/warning: dropped: .+; --waive '.+' accepts that\n/);
    const { out } = await run(...args, '--json');
    const dropped = JSON.parse(out).steps[0].report.filter(
      ({ fate }: { fate: string }) => fate === 'dropped',
    );
    const waivers = dropped.flatMap(({ what }: { what: string }) => ['--waive', what]);
    expect(await run(...args, ...waivers)).toMatchObject({ status: 0 });
    expect(await run(...args, '--waive', 'all')).toMatchObject({ status: 0 });
  });

  it('keeps everything before the end of a file that was cut, and ends with 3', async () => {
    await writeFile(at('cut.stf'), (await readFile(STF)).subarray(0, 300));
    const { status, err } = await run('convert', at('cut.stf'), '-o', at('cut.uscope'));
    expect(status).toBe(3);
    expect(err).toContain('cut.stf ends early; everything before its end was read');
    expect(await run('verify', at('cut.uscope'))).toMatchObject({ status: 0 });
  });

  it('names only the formats it can read where a file is of none', async () => {
    await writeFile(at('wave.fst'), 'no format of ours\n');
    const { err } = await run('convert', at('wave.fst'), '-o', at('wave.uscope'));
    expect(err).toContain(
      'begins like none of uscope, stf, ftr, flux, ctrace, konata, spike, qemu, gem5, vcd; name its format',
    );
  });

  it.each<[what: string, code: string, status: number, args: string[]]>([
    ['a file of no known format', 'CONVERT_UNKNOWN', 1, ['README', '-o', 'x.uscope']],
    ['an output whose name tells no format', 'CONVERT_UNKNOWN', 1, ['core.uscope', '-o', 'x.what']],
    ['a format that is not there', 'CONVERT_UNKNOWN', 1, ['core.uscope', '-o', 'x', '--to', 'what']],
    ['an option no side has', 'CONVERT_OPTION', 1, ['core.uscope', '-o', 'x.stf', '--opt', 'what=1']],
    ['µScope to µScope', 'CONVERT_OPTION', 1, ['core.uscope', '-o', 'x.uscope']],
    ['an output that is there', 'WRITER_EXISTS', 1, ['core.uscope', '-o', 'README', '--to', 'konata']],
    [
      'an output that is the input',
      'WRITER_EXISTS',
      1,
      ['core.uscope', '-o', 'core.uscope', '--to', 'konata', '--force'],
    ],
    ['an option without a value', 'CLI_USAGE', 2, ['core.uscope', '-o', 'x.stf', '--opt', 'what']],
    ['no output', 'CLI_USAGE', 2, ['core.uscope']],
  ])('refuses %s', async (_, code, status, args) => {
    await writeFile(at('README'), 'plain text, of no format\n');
    const paths = args.map((arg) => (/^(core|x|README)/.test(arg) ? at(arg) : arg));
    const result = await run('convert', ...paths);
    expect(result).toMatchObject({ status, out: '' });
    expect(result.err).toContain(`uscope: ${code}: `);
    expect((await readdir(directory)).filter((name) => /^x|\.tmp$/.test(name))).toEqual([]);
  });

  it('lists the formats with what they can do', async () => {
    const listed = JSON.parse((await run('convert', '--formats', '--json')).out);
    expect(listed).toContainEqual(
      expect.objectContaining({ name: 'stf', extensions: ['.stf', '.zstf'], reads: true, writes: true }),
    );
    const { out } = await run('convert', '--formats');
    for (const { name } of listed) expect(out).toMatch(new RegExp(`^${name}: `, 'm'));
  });
});

describe('verbs on a file of another format', () => {
  it('info says what it is', async () => {
    expect((await run('info', STF)).out).toMatch(
      /every-record\.stf: STF 1\.6 \(plain\)\n\nheader\n {2}version +1\.6\n/,
    );
    expect(JSON.parse((await run('info', STF, '--json')).out)).toMatchObject({
      format: 'STF 1.6 (plain)',
      header: { version: '1.6', isa: 'RISCV' },
    });
  });

  it('dump prints every record, events those asked for, stats what can be added up', async () => {
    const dumped = linesOf(await run('dump', STF));
    expect(dumped[0]).toMatch(/IDENTIFIER/);
    const events = linesOf(await run('events', STF));
    const registers = linesOf(await run('events', STF, '--event', 'INST_REG', '--where', 'register=5'));
    expect(registers).toEqual(events.filter((line) => /INST_REG register=5 /.test(line)));
    expect(registers.length).toBeGreaterThan(0);
    expect(jsonLinesOf(await run('events', STF, '--event', 'INST_REG', '--limit', '1', '--json'))).toEqual([
      expect.objectContaining({ time: '0', unit: 'instructions', event: 'INST_REG' }),
    ]);
    expect((await run('stats', STF)).out).toMatch(/instructions +5\n/);
  });

  it('refuses options that only mean something for µScope', async () => {
    const { status, err } = await run('dump', STF, '--cycles', '1:2');
    expect(status).toBe(2);
    expect(err).toContain('--cycles is for µScope traces; this is STF 1.6 (plain). Convert it first');
  });
});
