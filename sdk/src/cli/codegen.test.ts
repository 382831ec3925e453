import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, runUscope } from '../../../test/support/run-cli.js';
import { TEMPLATES } from '../protocols/templates.js';

const vectors = fileURLToPath(new URL('../../../test/vectors/codegen/', import.meta.url));
const schema = join(vectors, 'core.yaml');

const run = (...args: string[]): Promise<CliResult> => runUscope(['codegen', ...args]);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-codegen-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope codegen', () => {
  it.each([
    ['--sv', 'core.sv'],
    ['--c', 'core.h'],
    ['--cpp', 'core.hpp'],
    ['--py', 'core.py'],
    ['--ts', 'core.ts'],
  ])('%s prints %s', async (option, golden) => {
    const expected = await readFile(join(vectors, golden), 'utf8');
    expect(await run(schema, option)).toEqual({ status: 0, out: expected, err: '' });
  });

  it('writes a file and prints nothing', async () => {
    const file = join(directory, 'core.h');
    expect(await run(schema, '--c', '-o', file)).toEqual({ status: 0, out: '', err: '' });
    expect(await readFile(file, 'utf8')).toBe(await readFile(join(vectors, 'core.h'), 'utf8'));
  });

  it('calls things after the schema file, or after --name', async () => {
    expect((await run(schema, '--sv')).out).toContain('\npackage core_trace_pkg;\n');
    expect((await run(schema, '--sv', '--name', 'dut')).out).toContain('\npackage dut_trace_pkg;\n');
  });

  it('writes scope paths into all names with --qualified', async () => {
    expect((await run(schema, '--c', '--qualified')).out).toContain('#define CORE_ST_CORE_ROB 2\n');
  });

  it.each([
    ['no language', [schema], 'no language; give one of --sv, --c, --cpp, --py, --ts'],
    ['two languages', [schema, '--sv', '--c'], "option '--sv' cannot be used with option '--c'"],
    ['a name that is none', [schema, '--c', '--name', '1x'], '"1x" is not a name'],
    ['no such file', [join(vectors, 'absent.yaml'), '--c'], 'the schema cannot be read'],
  ])('refuses %s', async (_, args, message) => {
    const result = await run(...args);
    expect(result).toMatchObject({ status: 2, out: '' });
    expect(result.err).toContain('CLI_USAGE');
    expect(result.err).toContain(message);
  });

  describe('--tracer', () => {
    const template = TEMPLATES.cpu;
    const tracer = async (text: string, ...options: string[]): Promise<CliResult> => {
      const file = join(directory, 'pipe.yaml');
      await writeFile(file, text);
      return run(file, '--tracer', ...options);
    };

    it('writes a module with a bit for each stage, for the names of the schema', async () => {
      const { status, out } = await tracer(template, '--sv');
      expect(status).toBe(0);
      expect(out).toContain('module pipe_tracer (');
      expect(out).toContain(
        '// Bit i is stage i: 0 fetch, 1 decode, 2 execute, 3 writeback.\n    input logic [3:0]  valid,',
      );
      expect(out).toContain('uscope_pipeline_new(w, "core0", "", 4)');
      expect(out).toContain('uscope_storage_id(w, "core0/committed_insns")');
      const other = template.replaceAll('core0', 'soc').replace('cycles: counter', 'ticks: counter');
      expect((await tracer(other, '--sv')).out).toContain('st_cycles    = uscope_storage_id(w, "")');
    });

    it.each([
      ['a schema without a core', TEMPLATES.tr, 'no scope has the protocol "cpu"'],
      ['one stage', template.replace(/(fetch),[ \w,]*/g, '$1'), 'core0 has 1 stages; 2 to 8 are possible'],
      ['no event annotate', template.replace('annotate: {', 'remark: {'), 'core0 has no event "annotate"'],
      [
        'too few slots',
        template.replace('slots: 64', 'slots: 15'),
        'core0 has no storage "entities" with 16 slots, 4 for each stage',
      ],
    ])('refuses %s, and says what helps', async (_, text, message) => {
      const result = await tracer(text, '--sv');
      expect(result).toMatchObject({ status: 2, out: '' });
      expect(result.err).toContain(`CLI_USAGE: --tracer: ${message}; \`uscope schema --template cpu\``);
    });

    it('is for SystemVerilog', async () => {
      expect((await tracer(template, '--c')).err).toContain(
        "option '--tracer' cannot be used with option '--c'",
      );
    });
  });

  it('says where the schema is wrong', async () => {
    const file = join(directory, 'bad.yaml');
    await writeFile(
      file,
      'uscope: 1\nclocks: {clk: 1 ns}\nstorages: {x: {slots: 1, kind: densse, fields: {a: u8}}}\n',
    );
    const result = await run(file, '--sv');
    expect(result).toMatchObject({ status: 1, out: '' });
    expect(result.err).toMatch(/SCHEMA_TYPE: .*densse.*bad\.yaml, line 3/);
  });

  it('says when the output cannot be written', async () => {
    const result = await run(schema, '--c', '-o', join(directory, 'absent', 'core.h'));
    expect(result).toMatchObject({ status: 1, out: '' });
    expect(result.err).toContain('WRITER_DIRECTORY: cannot be written');
  });
});
