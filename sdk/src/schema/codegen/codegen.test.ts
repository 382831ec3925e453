import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { schemaFingerprint } from '../../writer/fingerprint.js';
import { parseUnboundSchema } from '../index.js';
import { camel, Names, pascal, uniqueWords, variablesIn, wordOf } from './identifiers.js';
import { type CodegenLanguage, generateCode } from './index.js';

/** USCOPE_UPDATE_VECTORS=1 writes what is expected anew; read the difference before you commit it. */
const update = process.env.USCOPE_UPDATE_VECTORS === '1';
const directory = new URL('../../../../test/vectors/codegen/', import.meta.url);
const EXTENSIONS: Readonly<Record<CodegenLanguage, string>> = {
  sv: 'sv',
  c: 'h',
  cpp: 'hpp',
  py: 'py',
  ts: 'ts',
};
const LANGUAGES = Object.keys(EXTENSIONS) as CodegenLanguage[];

interface Choice {
  readonly name?: string;
  readonly qualified?: boolean;
}

function generate(language: CodegenLanguage, text: string, choice: Choice = {}): string {
  const schema = parseUnboundSchema(text);
  return generateCode(language, { schema, fingerprint: '', name: 'demo', source: 'demo.yaml', ...choice });
}

/** A schema with these scopes (or other top-level keys) and a clock. */
const schemaText = (body: string): string => `uscope: 1\nclocks: {clk: 1 ns}\n${body}\n`;
const counters = (body: string): string => schemaText(`scopes: ${body}`);
const storageIds = (code: string): string[] => [...code.matchAll(/ (ST_\w+) = 16'd/g)].map(([, id]) => id!);

describe('generated files, word for word', () => {
  const schemas = readdirSync(fileURLToPath(directory)).filter((name) => name.endsWith('.yaml'));
  it('has vectors', () => expect(schemas.length).toBeGreaterThan(1));

  it.each(schemas.flatMap((file) => LANGUAGES.map((language) => [file, language] as const)))(
    '%s --%s',
    (file, language) => {
      const name = file.replace('.yaml', '');
      const golden = new URL(`${name}.${EXTENSIONS[language]}`, directory);
      const schema = parseUnboundSchema(readFileSync(new URL(file, directory), 'utf8'), { file });
      const fingerprint = schemaFingerprint(schema.schema);
      const code = generateCode(language, { schema, fingerprint, name, source: file });
      if (update) writeFileSync(golden, code);
      expect(code).toBe(readFileSync(golden, 'utf8'));
      expect(code).toContain(fingerprint);
      expect(code.split('\n').filter((line) => /\s$/.test(line))).toEqual([]);
    },
  );
});

describe('names', () => {
  it.each([
    ['core${core}', 'core'],
    ['lane${a}_x', 'lane_x'],
    ['${core}', 'core'],
    ['a.b-c', 'a_b_c'],
    ['__a__b_', 'a_b'],
    ['_0', 'n0'],
    ['_', 'x'],
    ['Rob', 'Rob'],
  ])('%s becomes %s', (name, word) => expect(wordOf(name)).toBe(word));

  it('reads variables, not literals that look like them', () =>
    expect(variablesIn('a${b}$${c}${d}')).toEqual(['b', 'd']));

  it('are spelled as the language wants without becoming equal', () => {
    expect([camel('stage_transition'), pascal('stage_transition')]).toEqual([
      'stageTransition',
      'StageTransition',
    ]);
    expect(camel('r1_0')).not.toBe(camel('r10'));
  });

  it('are numbered when taken, in the order they are claimed', () =>
    expect(uniqueWords(['a', 'A', 'a_2', 'a'])).toEqual(['a', 'A_2', 'a_2_2', 'a_3']));

  it('get a _ when the language reserves them', () => {
    const names = new Names((name) => name === 'class');
    expect([names.claim('class'), names.claim('class'), names.claim('class_')]).toEqual([
      'class_',
      'class_2',
      'class__2',
    ]);
  });
});

describe('scopes', () => {
  const two = counters(
    '{a: {storages: {rob: counter, x: counter}}, b: {storages: {rob: counter, y: counter}}}',
  );

  it('precede names that two of them define', () =>
    expect(storageIds(generate('sv', two))).toEqual(['ST_A_ROB', 'ST_X', 'ST_B_ROB', 'ST_Y']));

  it('precede all names on demand', () =>
    expect(storageIds(generate('sv', two, { qualified: true }))).toEqual([
      'ST_A_ROB',
      'ST_A_X',
      'ST_B_ROB',
      'ST_B_Y',
    ]));

  it('leave names apart that differ in variables only', () => {
    const lanes = counters('{"l${i}": {storages: {q: counter}}, "l${j}": {storages: {q: counter}}}');
    expect(storageIds(generate('sv', lanes))).toEqual(['ST_L_Q', 'ST_L_Q_2']);
  });
});

describe('variables', () => {
  it('without a default must be given, and come first', () => {
    const text = schemaText('variables: {core: 0}\nscopes: {"${soc}.${core}": {storages: {x: counter}}}');
    expect(generate('sv', text)).toContain(
      'demo_open(input string trace_name, input string soc, input int core = 0,',
    );
    expect(generate('sv', text)).toContain('$sformatf("soc=%s,core=%0d", soc, core)');
  });

  it('cannot have a comma in their default, which is what separates them', () => {
    const text = schemaText('variables: {isa: "a,b"}\nscopes: {s: {storages: {x: counter}}}');
    expect(() => generate('c', text)).toThrow(/SCHEMA_VARIABLE: the default "a,b" of variable "isa"/);
  });
});

describe('the output', () => {
  it('does not depend on where the schema file is, whatever its name', () => {
    const code = generate('c', counters('{s: {storages: {x: counter}}}'));
    expect(code).toContain('from demo.yaml.');
    const schema = parseUnboundSchema(counters('{s: {storages: {x: counter}}}'));
    const hostile = generateCode('c', { schema, fingerprint: '', name: 'demo', source: 'a*/\nint b;.yaml' });
    expect(hostile.split('\n')[0]).toContain('from a___int_b_.yaml.');
  });

  it.each([
    ['sv', /^ {2}localparam shortint unsigned (F_S_\w+) = /gm],
    ['c', /^#define (DEMO_F_S_\w+) /gm],
    ['cpp', /^inline constexpr std::uint16_t (F_S_\w+) = /gm],
    ['py', /^(F_S_\w+): Final = /gm],
    ['ts', /^export const (F_S_\w+) = /gm],
  ] as const)('defines every name once, however many become equal (--%s)', (language, definition) => {
    const fields = Array.from({ length: 300 }, (_, i) => `f${i % 2 ? '.' : '-'}${i >> 1}: u8`).join(', ');
    const code = generate(
      language,
      schemaText(`storages: {s: {slots: 1, kind: sparse, fields: {${fields}}}}`),
    );
    const names = [...code.matchAll(definition)].map(([, name]) => name);
    expect(names).toHaveLength(300);
    expect(new Set(names).size).toBe(300);
  });
});
