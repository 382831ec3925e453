/** Files that are not µScope traces, given to each verb: read, or refused with what they are and what converts them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { loadAllVerbs } from './main.js';

limitOfFile(MANY_CASES_MS);

const vector = (path: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../test/vectors/${path}`, import.meta.url)));

const FST = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1, 0x49, 7]);
/** `a plain text`, packed by xz. */
const PACKED_TEXT =
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAMYSBwbGFpbiB0ZXh0CgAAAADDmi5c2WbOTQABJQ1xGcS2H7bzfQEAAAAABFla';

let directory = '';
const at = (name: string): string => join(directory, name);
const file = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(at(name), bytes);
  return at(name);
};
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-foreign-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** By verb: its arguments around the file. */
const TRACES_ONLY: Readonly<Record<string, (file: string) => readonly string[]>> = {
  schema: (one) => [one],
  find: (one) => [one, 'addi'],
  tail: (one) => [one],
  state: (one) => [one, '--at', '0'],
  history: (one) => [one, 'rob'],
  timeline: (one) => [one],
  counters: (one) => [one],
  buffers: (one) => [one],
  export: (one) => [one, '-o', at('dataset')],
  sql: (one) => [one, 'select * from instructions'],
  index: (one) => [one],
  verify: (one) => [one],
  doctor: (one) => [one],
  recover: (one) => [one, '-o', at('recovered.uscope')],
  merge: (one) => [one, one, '-o', at('merged.uscope')],
  slice: (one) => [one, '-o', at('slice.uscope')],
};
const READS_FOREIGN = ['info', 'dump', 'events', 'stats', 'view', 'diff', 'convert'];
/** They are about something else, or a program of their own asks them (test/mcp). */
const OTHERS = [
  'run',
  'serve',
  'ctl',
  'dataset',
  'ctrace',
  'mcp',
  'codegen',
  'config',
  'keygen',
  'completion',
];

it('every verb is here', async () => {
  const names = (await loadAllVerbs()).commands.map((command) => command.name());
  expect([...Object.keys(TRACES_ONLY), ...READS_FOREIGN, ...OTHERS].sort()).toEqual(names.sort());
});

describe.each(Object.entries(TRACES_ONLY))('%s', (verb, args) => {
  it('says which format a file has, and the command that converts it', async () => {
    const { status, err } = await runUscope([verb, ...args(file('a b.log', vector('spike/mixed.log')))]);
    expect(status).toBe(1);
    expect(err).toContain('FORMAT_MAGIC: this is not a µScope trace but spike');
    expect(err).toContain(`uscope convert '${at('a b.log')}' -o '${at('a b.uscope')}'`);
  });

  it('says what converts a file of a format that is not read', async () => {
    const { status, err } = await runUscope([verb, ...args(file('wave', FST))]);
    expect([status, err]).toEqual([1, expect.stringContaining('fst2vcd')]);
  });
});

describe('verbs that read other formats', () => {
  it.each([
    ['FST', FST, 'fst2vcd'],
    ['GHW', 'GHDLwave\n\0', 'ghdl -r TOP --vcd'],
    ['a packed GHW', gzipSync('GHDLwave\n\0'), 'ghdl -r TOP --vcd'],
    ['xz', Buffer.from(PACKED_TEXT, 'base64'), 'xz -d'],
    ['execlog', vector('strangers/execlog.log'), 'in_asm,exec,cpu,nochain'],
    ['NEORV32', vector('strangers/neorv32.log'), 'VCD'],
    ['SCV', vector('strangers/scv.txlog'), 'FTR'],
  ])('%s is refused with what to do', async (_name, bytes, what) => {
    const path = file('stranger', bytes);
    for (const args of [
      ['info', path],
      ['dump', path],
      ['events', path],
      ['stats', path],
      ['diff', path, path],
      ['view', '--no-open', path],
      ['convert', path, '-o', at('out.uscope')],
    ]) {
      const { status, err } = await runUscope(args);
      expect([args[0], status, err]).toEqual([args[0], 1, expect.stringContaining('CONVERT_UNSUPPORTED')]);
      expect(err).toContain(what);
    }
  });

  it.each([
    ['spike', 'spike/mixed.log', 'a Spike log'],
    ['qemu', 'qemu/plain.log', 'a QEMU log'],
    ['gem5', 'gem5/window.out', 'gem5'],
  ])(
    '%s is recognized after 200 KB of other output, packed too, and by --from',
    async (name, path, title) => {
      const noise = 'a line of the boot loader\n'.repeat(8000);
      const late = Buffer.concat([Buffer.from(noise), vector(path)]);
      for (const bytes of [late, gzipSync(late)])
        expect((await runUscope(['info', file('late', bytes)])).out).toContain(title);
      const later = file('later', Buffer.concat([Buffer.from(noise.repeat(6)), vector(path)]));
      expect((await runUscope(['info', later])).err).toContain('FORMAT_MAGIC');
      expect((await runUscope(['info', later, '--from', name])).out).toContain(title);
      expect((await runUscope(['dump', later, '--from', name])).status).toBe(0);
    },
  );

  it('--from is a time of a trace, or the format of another file', async () => {
    const log = file('a.log', vector('spike/mixed.log'));
    const trace = at('a.uscope');
    expect((await runUscope(['convert', log, '-o', trace, '--from', 'spike', '--force'])).status).toBe(0);
    expect((await runUscope(['events', trace, '--from', '2ns'])).status).toBe(0);
    expect((await runUscope(['events', trace, '--from', 'spike'])).status).toBe(0);
    expect((await runUscope(['diff', '--by', 'retired', trace, log, '--from', 'spike'])).status).toBe(0);
    for (const verb of READS_FOREIGN) {
      const more = { diff: [log], convert: ['-o', at('b.uscope')] }[verb] ?? [];
      const { err } = await runUscope([verb, log, ...more, '--from', 'spoke']);
      expect(err).toMatch(/"spoke".*there are uscope, .*spike/);
    }
    expect((await runUscope(['info', log, '--from', 'konata'])).err).toContain('CONVERT_');
  });
});
