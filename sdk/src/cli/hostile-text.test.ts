/** Text of a trace cannot forge lines of the output, colour them or drive the terminal: every verb that reads a trace is tried. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { modelSchema, runModel, STAGES } from '../../../test/support/pipeline-model.js';
import { runUscope } from '../../../test/support/run-cli.js';
import type { FieldDef, Schema } from '../format/types.js';
import { loadAllVerbs } from './main.js';

// Every verb is run.
limitOfFile(MANY_CASES_MS);

/** A line of its own, black, from right to left. */
const HOSTILE = '\n\u001b[30m\u202eforged\u009b';
const FORGED_LINE = '\\x1b[30m';
/** Newline and tab are lines and columns of the output. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/u;

let directory: string;
const at = (name: string): string => join(directory, name);

const named = <T extends { readonly name: string }>(one: T): T => ({ ...one, name: one.name + HOSTILE });
const hostileFields = (fields: readonly FieldDef[]) => fields.map(named);

/** Names that the cpu protocol does not look for. */
const cpu = (schema: Schema): Schema => ({
  ...schema,
  clocks: schema.clocks.map(named),
  scopes: schema.scopes.map(named),
  enums: schema.enums.map((one) => ({ ...one, values: one.values.map(named) })),
  storages: schema.storages.map((one) => (one.name === 'entities' ? one : named(one))),
});

const all = (schema: Schema): Schema => ({
  ...cpu(schema),
  scopes: schema.scopes.map((one) => ({ ...named(one), protocol: one.protocol && one.protocol + HOSTILE })),
  enums: schema.enums.map((one) => ({ ...named(one), values: one.values.map(named) })),
  storages: schema.storages.map((one) => ({ ...named(one), fields: hostileFields(one.fields) })),
  events: schema.events.map((one) => ({ ...named(one), fields: hostileFields(one.fields) })),
});

function built(change: (schema: Schema) => Schema, cycles = 60): Uint8Array {
  let state = 5;
  const { frames, strings } = runModel((below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  }, cycles);
  const builder = new TraceBuilder({
    schema: change(modelSchema()),
    dut: [
      [`dut_name${HOSTILE}`, `soc${HOSTILE}`],
      ['cpu.isa', `RV32I${HOSTILE}`],
      ['cpu.pipeline_stages', STAGES.map((stage) => stage + HOSTILE).join(',')],
    ],
  });
  builder.segment({ frames, strings: strings.map((text) => text + HOSTILE) });
  return builder.finalize().bytes;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-hostile-'));
  await writeFile(at(`cpu${HOSTILE}.uscope`), built(cpu));
  await writeFile(at(`other${HOSTILE}.uscope`), built(cpu, 70));
  await writeFile(at(`all${HOSTILE}.uscope`), built(all));
  await writeFile(
    at(`log${HOSTILE}.kanata`),
    'Kanata\t0004\nC=\t0\nI\t0\t0\t0\nL\t0\t0\tnop\u001b[30m\u202e\nS\t0\t0\tF\u001b[30m\u202e\nC\t3\nR\t0\t0\t0\n',
  );
  await writeFile(at(`cut${HOSTILE}.uscope`), built(all).subarray(0, -100));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Words that begin with `@` are the files above. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  info: ['@cpu', '@all', '@log', '@cut', '@.', '@cpu --count', '@none'],
  schema: ['@cpu', '@all'],
  dump: ['@cpu', '@all', '@log'],
  events: ['@cpu', '@all', '@cpu --event none'],
  find: ['@cpu forged', '@cpu mispredict', '@all forged'],
  tail: ['@cpu -n 20', '@all -n 20 --timeout 0.1', '@cut -n 5 --timeout 0.1'],
  state: ['@cpu --at 5000', '@all --at 5000', '@all --at 0 --storage none'],
  history: ['@cpu entities', '@all none'],
  timeline: ['@cpu', '@cpu @other', '@all', '@cpu --core none'],
  counters: ['@cpu', '@all'],
  buffers: ['@cpu --buffer entities', '@all'],
  stats: ['@cpu', '@cpu @other', '@all', '@cpu --html -'],
  export: ['@cpu --dry-run -o @d', '@cpu -o @d'],
  dataset: ['ls @d', 'check @d', 'stats @d', 'rm @d none'],
  sql: [
    '@d select*from(traces)',
    '@d select*from(annotations) --markdown',
    '@d explain(select(1))',
    '@d select*from(none)',
  ],
  index: ['@cpu', '@cpu', '@all', '@none'],
  verify: ['@cpu', '@all', '@cut'],
  doctor: ['@cpu', '@all'],
  recover: ['@cut -o @r.uscope', '@all -o @r2.uscope'],
  diff: ['@cpu @other', '@cpu @all', '@cpu @other --by state', '@cpu @other --by retired'],
  merge: ['@cpu @other -o @m.uscope'],
  slice: ['@cpu --cycles 5:20 -o @s.uscope', '@all -o @s2.uscope'],
  convert: [
    '@cpu -o @c.vcd',
    '@cpu -o @c.kanata',
    '@all -o @c2.vcd',
    '@log -o @c3.uscope',
    '@log -o @c.none',
  ],
  view: ['@cpu --export @site', '@none --export @site2'],
};

/** Why the other verbs print no text of a trace. */
const OTHERS: Readonly<Record<string, string>> = {
  run: "the daemon's messages are `printable` ones",
  serve: "the daemon's messages are `printable` ones",
  ctl: 'asks daemons, and has a test of its own',
  ctrace: "as Chronon's reader prints them, byte by byte",
  mcp: 'JSON',
  codegen: 'a schema, whose names are checked',
  config: 'no input',
  keygen: 'no input',
  completion: 'no input',
};

it('every verb is here', async () => {
  const verbs = (await loadAllVerbs()).commands.map((one) => one.name()).filter((name) => name !== 'help');
  expect([...Object.keys(LINES), ...Object.keys(OTHERS)].sort()).toEqual(verbs.sort());
});

const wordOf = (word: string): string => (word.startsWith('@') ? fileOf(word.slice(1)) : word);

const fileOf = (name: string): string => {
  if (['cpu', 'other', 'all', 'cut', 'none'].includes(name)) return at(`${name}${HOSTILE}.uscope`);
  return name === 'log' ? at(`log${HOSTILE}.kanata`) : at(name);
};

describe.each(Object.entries(LINES))('%s', (verb, lines) => {
  it.each(lines)('%s', async (line) => {
    const words = line.split(' ').map(wordOf);
    const { out, err } = await runUscope([verb, ...words]);
    expect(err).not.toContain('CLI_USAGE');
    expect(err).not.toContain('unexpected failure');
    for (const text of [out, err]) {
      expect(RAW.exec(text)?.index ?? -1, text).toBe(-1);
      expect(text.split('\n').filter((one) => one.startsWith(FORGED_LINE))).toEqual([]);
    }
  });
});

it('what a name holds is seen', async () => {
  const { out } = await runUscope(['dump', fileOf('all')]);
  expect(out).toContain('\\x0a\\x1b[30m\\u202eforged\\x9b');
});
