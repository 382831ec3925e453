/** `uscope ctrace` and the verbs for all formats on .ctrace files. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_TYPE, everything, SCHEMA, written } from '../../../../test/support/ctrace-files.js';
import { jsonLinesOf, linesOf, runUscope } from '../../../../test/support/run-cli.js';

let directory: string;
let file: string;
const run = (...args: string[]) => runUscope(args);
const path = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-ctrace-cli-'));
  file = path('a.ctrace');
  const bytes = await written(
    SCHEMA,
    (writer) => {
      for (let i = 0; i < 50; i++) {
        writer.event({ cycle: BigInt(i), formatId: 3, category: 1, source: (i % 3) + 1 }, [
          BigInt(16 + i),
          `n${i}`,
        ]);
      }
    },
    { created: 1_795_173_940n, compression: 'none' },
  );
  await writeFile(file, bytes);
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope ctrace', () => {
  it('prints the events that are asked for, options before or after the file', async () => {
    const all = linesOf(await run('ctrace', 'dump', file));
    expect(all).toHaveLength(50);
    expect(all[0]).toBe('[         0] cpu.fetch: pc=0x10 says n0 {');
    expect(all[2]).toBe('[         2] pc=0x12 says n2 {');
    expect(linesOf(await run('ctrace', 'filter', '--cycles', '10-20', file))).toEqual(all.slice(10, 21));
    expect(linesOf(await run('ctrace', 'filter', file, '--cycles', '45'))).toEqual(all.slice(45));
    const fetch = all.filter((line) => line.includes('cpu.fetch'));
    expect(linesOf(await run('ctrace', 'filter', file, '--unit', 'cpu.f'))).toEqual(fetch);
    expect(
      linesOf(await run('ctrace', 'dump', file, '--unit', 'cpu.f', '--cycles', '3-49', '--limit', '2')),
    ).toEqual(fetch.slice(1, 3));
    expect(linesOf(await run('ctrace', 'dump', '--limit', '0', file))).toEqual(all);
    expect(linesOf(await run('ctrace', 'convert', '--limit', '2', file))).toEqual(all);
    expect(await run('ctrace', 'dump', '-v', '--limit', '2', file)).toMatchObject({
      err: 'Dumped 2 events\n',
    });
    expect((await run('ctrace', 'filter', file, '--cycles', '30-20')).out).toBe('');
  });

  it('-o replaces a file, but not the one it reads', async () => {
    const output = path('out.log');
    await writeFile(output, 'old');
    expect(await run('ctrace', 'convert', file, '-o', output)).toMatchObject({ status: 0, out: '' });
    expect(await readFile(output, 'utf8')).toBe((await run('ctrace', 'dump', file)).out);
    expect(await run('ctrace', 'convert', file, '-o', file)).toMatchObject({ status: 1 });
    expect((await run('ctrace', 'info', file)).status).toBe(0);
  });

  it('info lists formats and units when it is asked to', async () => {
    const short = (await run('ctrace', 'info', file)).out;
    expect(short).toContain('Total events: 50\n  Cycle range: 0 - 49\n  Duration: 49 cycles\n');
    expect(short).toContain('Compression:\n  Enabled: no\n\nCreated: ');
    expect(short).not.toContain('Registered');
    const long = (await run('ctrace', 'info', file, '--verbose')).out;
    expect(long.startsWith(short)).toBe(true);
    expect(long).toContain('  [3] pc=0x{:x} says {} { (unit.cpp:13)\n');
    expect(long).toContain('Registered Units:\n  [1] cpu.fetch (Fetch)\n  [2] cpu/fetch\n');
    expect(JSON.parse((await run('ctrace', 'info', file, '--json')).out)).toMatchObject({
      events: '50',
      blocks: 1,
    });
  });

  it('--json prints an object per event', async () => {
    const [first] = jsonLinesOf(await run('ctrace', 'dump', file, '--json', '--limit', '1'));
    expect(first).toEqual({
      ...{ cycle: '0', unit: 'cpu.fetch', format: 3, category: 1, message: 'pc=0x10 says n0 {' },
      args: { pc: '16', arg1: 'n0' },
    });
  });

  it('prints everything before a cut, and ends with 3', async () => {
    const cut = path('cut.ctrace');
    await writeFile(cut, (await readFile(file)).subarray(0, -300));
    const whole = linesOf(await run('ctrace', 'dump', file));
    const result = await run('ctrace', 'dump', cut);
    expect(result.status).toBe(3);
    expect(linesOf(result).length).toBeGreaterThan(40);
    expect(linesOf(result)).toEqual(whole.slice(0, linesOf(result).length));
    const info = await run('ctrace', 'info', cut);
    expect(info).toMatchObject({ status: 3 });
    expect(info.err).toContain('no index; there are 50 events in 1 blocks');
  });

  it('refuses what is not a command, a range or a number', async () => {
    for (const args of [
      ['list', file],
      ['dump'],
      ['dump', file, '--cycles', '5-'],
      ['dump', file, '--cycles', '1-2-3'],
      ['dump', file, '--limit', '-1'],
    ]) {
      expect((await run('ctrace', ...args)).status).toBe(2);
    }
    expect((await run('ctrace', 'dump', path('none.ctrace'))).status).toBe(1);
  });
});

describe('the verbs for all formats', () => {
  it('know a .ctrace file by its content', async () => {
    const any = path('any.bin');
    await writeFile(any, await everything());
    expect((await run('info', any)).out).toMatch(/Chronon \.ctrace 1\.1.*events +14\n.*cycles +5 to 12\n/s);
    // Other than Chronon's reader, `dump` passes no control characters of the file on.
    const { out } = await run('ctrace', 'dump', any);
    expect((await run('dump', any)).out).toBe(out.replaceAll('\0', '\\x00'));
    expect(jsonLinesOf(await run('dump', any, '--json'))).toEqual(
      jsonLinesOf(await run('ctrace', 'dump', any, '--json')),
    );
    const [started] = linesOf(await run('events', any, '--event', 'started', '--limit', '1'));
    expect(started).toBe('5 cycles  cpu.fetch/started category=3');
    const every = jsonLinesOf(await run('events', any, '--event', 'cpu/fetch/every_type', '--json'));
    expect(every).toMatchObject([
      { time: '5', fields: { t4: String(EVERY_TYPE[3]), t12: 'hé {}', t13: true } },
    ]);
    expect((await run('stats', any)).out).toMatch(/log messages by level\n {2}warn +3\n/);
  });
});
