/** What the command says of schemas and the protocols that they claim: `schema --check`, `schema --template`, `info`, `doctor`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';

const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
enums: {reason: [mispredict]}
scopes:
  core\${core}:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
    events:
      flush: {entity_id: string, reason: reason}
`;
const warningOf = (core: string): string =>
  `PROTOCOL_TYPE: the field "entity_id" of the event "${core}/flush" is string, and the protocol "cpu" has u32, so the event is not read: squashed instructions count as retired`;
const noteOf = (core: string): string =>
  `PROTOCOL_MISSING: ${core} is "cpu" and lacks the event "stage_transition": no pipeline can be shown, and no time by stage`;

let directory = '';
let wrong = '';
let trace = '';
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-schema-check-'));
  wrong = join(directory, 'wrong.yaml');
  trace = join(directory, 'wrong.uscope');
  writeFileSync(wrong, SCHEMA);
  const writer = await TraceWriter.create({
    path: trace,
    ...parseSchema(SCHEMA, { variables: { core: '0' } }),
  });
  writer.beginCycle(0n);
  writer.endCycle();
  await writer.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('uscope schema --check', () => {
  it('says what a schema file contradicts and lacks, with its variables as they are', async () => {
    const core = 'core${core}';
    expect(await runUscope(['schema', '--check', wrong])).toEqual({
      status: 1,
      out: `note     ${noteOf(core)}\nwarning  ${warningOf(core)}\n${wrong}: 1 contradiction\n`,
      err: '',
    });
  });

  it('does the same for a trace, as JSON', async () => {
    const { status, out } = await runUscope(['schema', '--check', '--json', trace]);
    const { file, ok, findings } = JSON.parse(out);
    expect({ status, file, ok }).toEqual({ status: 1, file: trace, ok: false });
    expect(
      findings.map(({ code, scope, detail }: Record<string, string>) => [scope, `${code}: ${detail}`]),
    ).toEqual([
      ['core0', noteOf('core0')],
      ['core0', warningOf('core0')],
    ]);
  });

  it('ends with 0 where something is missing only', async () => {
    const lacking = join(directory, 'lacking.yaml');
    writeFileSync(lacking, SCHEMA.replace('entity_id: string', 'entity_id: u32'));
    const { status, out } = await runUscope(['schema', '--check', lacking]);
    expect(status).toBe(0);
    expect(out).toContain('note     PROTOCOL_MISSING');
    expect(out).toContain('lacking.yaml: nothing contradicts its protocols\n');
  });

  it('says that no scope claims a protocol, and that more may be wrong than it prints', async () => {
    const plain = join(directory, 'plain.yaml');
    writeFileSync(plain, 'uscope: 1\nclocks: {clk: 1 ns}\nstorages: {n: counter}\n');
    const { status, out } = await runUscope(['schema', '--check', plain]);
    expect([status, out]).toEqual([0, `${plain}: no scope claims a protocol\n`]);
    const many = join(directory, 'many.yaml');
    const scopes = Array.from({ length: 60 }, (_, i) => `c${i}: {protocol: cpu, clock: clk}`).join(', ');
    writeFileSync(many, `uscope: 1\nclocks: {clk: 1 ns}\nscopes: {${scopes}}\n`);
    const { out: first } = await runUscope(['schema', '--check', many]);
    expect(first).toContain('\nthese are the first 100; there may be more\n');
  });

  it('says what is wrong with a file that is not a schema, and with none', async () => {
    const broken = join(directory, 'broken.yaml');
    writeFileSync(broken, 'uscope: 1\nscopes: 3\n');
    expect(await runUscope(['schema', '--check', broken])).toMatchObject({
      status: 1,
      err: expect.stringMatching(/broken\.yaml:\d+:\d+: SCHEMA_/),
    });
    const missing = await runUscope(['schema', '--check', join(directory, 'missing.yaml')]);
    expect(missing).toMatchObject({ status: 2, err: expect.stringContaining('CLI_USAGE') });
    expect((await runUscope(['schema', '--check'])).err).toContain(
      'CLI_USAGE: give a file, or --template without one',
    );
  });
});

it.each(['cpu', 'noc', 'tr'])(
  'uscope schema --template %s prints a schema that contradicts nothing',
  async (name) => {
    const { status, out } = await runUscope(['schema', '--template', name]);
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, out);
    expect(status).toBe(0);
    expect(await runUscope(['schema', '--check', file])).toEqual({
      status: 0,
      out: `${file}: nothing contradicts its protocols\n`,
      err: '',
    });
  },
);

it('uscope info warns of a contradiction, and not of what is missing', async () => {
  const { status, err } = await runUscope(['info', trace]);
  expect([status, err]).toEqual([0, `uscope: warning: ${warningOf('core0')}\n`]);
  const json = JSON.parse((await runUscope(['info', '--json', trace])).out);
  expect(json.warnings).toEqual([warningOf('core0')]);
});

it('uscope doctor reports a contradiction, and notes what is missing', async () => {
  const { status, out } = await runUscope(['doctor', trace]);
  expect(status).toBe(1);
  expect(out).toContain(
    `protocol ${warningOf('core0')}\n         likely: the schema uses a name of the protocol`,
  );
  expect(out).toContain(`note     ${noteOf('core0')}\n`);
  expect(out).toContain('1 finding\n');
});
