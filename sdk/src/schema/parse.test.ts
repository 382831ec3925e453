import { describe, expect, it } from 'vitest';
import { MANY_CASES_MS } from '../../../test/support/limits.js';
import { isUscopeError } from '../base/errors.js';
import { checkSchema, parsePeriod, parseSchema, parseUnboundSchema } from './index.js';

const HEAD = 'uscope: 1\nvariables: {core: 0}\nclocks: {clk: 1 ns}\n';
const codes = (text: string): string[] => checkSchema(text).errors.map((error) => error.code);

describe('variables', () => {
  const text = [
    `${HEAD}dut: {dut_name: "core \${core} of $\${core}"}`,
    'scopes:',
    '  core${core}: {storages: {cycles: counter}, events: {go: {}}}',
  ].join('\n');

  it('take the default of the schema', () => {
    const { schema, dut } = parseSchema(text);
    expect(schema.scopes[1]?.name).toBe('core0');
    expect(dut).toEqual([['dut_name', 'core 0 of ${core}']]);
  });

  it('take the value given, and ids stay as they are', () => {
    const { schema } = parseSchema(text, { variables: { core: '17', unused: 'x' } });
    expect(schema.scopes[1]?.name).toBe('core17');
    expect({ ...schema, scopes: [] }).toEqual({ ...parseSchema(text).schema, scopes: [] });
  });

  it('give a clock its period', () => {
    const text = 'uscope: 1\nvariables: {period: 1 ns}\nclocks: {other: 7, clk: "${period}"}\n';
    const periods = (variables: Record<string, string>): number[] =>
      parseSchema(text, { variables }).schema.clocks.map(({ periodPs }) => periodPs);
    expect(periods({})).toEqual([7, 1000]);
    expect(periods({ period: '100 MHz' })).toEqual([7, 10_000]);
    expect(parseUnboundSchema(text).schema.clocks[1]?.periodPs).toBe(0);
    const messages = (variables: Record<string, string>, from = text): string[] =>
      checkSchema(from, { variables }).errors.map(({ message }) => message);
    expect(messages({ period: 'fast' })).toEqual([
      expect.stringMatching(/^line 3:25: SCHEMA_RANGE: clock "clk": "fast" is not a clock period; /),
    ]);
    expect(messages({}, text.replace('{period:', '{perod:'))).toEqual([
      expect.stringMatching(/^line 3:25: SCHEMA_VARIABLE: the variable "period" has no value.*mean "?perod/),
    ]);
  });

  it('must leave a name that is allowed', () => {
    const { errors } = checkSchema(text, { variables: { core: 'a/b' } });
    expect(errors.map((error) => error.message)).toEqual([
      'line 6:3: SCHEMA_NAME: the name of scope "corea/b" is not allowed; it takes a letter or _ first, then letters, digits, _ . -',
    ]);
  });

  it('never see properties of Object', () => {
    expect(codes(`${HEAD}scopes:\n  core\${constructor}: {}\n`)).toEqual(['SCHEMA_VARIABLE']);
    expect(codes(`${HEAD}events:\n  e: {a: constructor}\n`)).toEqual(['SCHEMA_TYPE']);
    expect(parseSchema(`${HEAD}scopes:\n  __proto__: {}\n`).schema.scopes[1]?.name).toBe('__proto__');
  });

  it('stay in the names of an unbound schema', () => {
    const { schema, variables } = parseUnboundSchema(text);
    expect(schema.scopes[1]?.name).toBe('core${core}');
    expect([...variables]).toEqual([['core', '0']]);
  });

  it('need no value in an unbound schema, only a correct form', () => {
    const open = 'uscope: 1\nclocks: {clk: 1}\nscopes:\n  core${core}: {}\n';
    expect(parseUnboundSchema(open).schema.scopes).toHaveLength(2);
    expect(() => parseUnboundSchema(open.replace('}:', ':'))).toThrow('SCHEMA_NAME');
  });
});

describe('errors', () => {
  it('carry the code and place of the first problem, and the message lists all', () => {
    const text = 'uscope: 1\nclocks: {clk: 1}\nevents:\n  a: {x: u9}\n  b/c: {}\n';
    let caught: unknown;
    try {
      parseSchema(text, { file: 'my.yaml' });
    } catch (error) {
      caught = error;
    }
    expect(isUscopeError(caught) && [caught.code, caught.place, caught.message.split('\n').length]).toEqual([
      'SCHEMA_TYPE',
      { file: 'my.yaml', line: 4, column: 10 },
      2,
    ]);
  });

  it('stop after a hundred', () => {
    const text = `${HEAD}events:\n${Array.from({ length: 500 }, (_, i) => `  e${i}: {a: nope}\n`).join('')}`;
    expect(checkSchema(text).errors).toHaveLength(100);
    expect(() => parseSchema(text)).toThrow(/further problems are not listed$/);
  });

  it('point at the right column behind text of several bytes and after CRLF', () => {
    const [error] = checkSchema('uscope: 1\r\nclocks: {clk: 1}\r\ndut: {a: "äöü😀", b/: x}\r\n').errors;
    expect(error?.place).toMatchObject({ line: 3, column: 19 });
  });
});

describe('clock periods', () => {
  it.each([
    ['0', 0],
    ['1000', 1000],
    ['1000 ps', 1000],
    ['1ns', 1000],
    ['1.25 ns', 1250],
    ['0.001 us', 1000],
    ['4 ms', 4_000_000_000],
    ['2000 fs', 2],
    ['400 MHz', 2500],
    ['400 mhz', 2500],
    ['1.6 GHz', 625],
    ['1000000 Hz', 1_000_000],
    ['4294967295', 4_294_967_295],
  ])('%s is %i ps', (text, ps) => expect(parsePeriod(text)).toEqual({ ps }));

  it.each(['', '-1', '1e3', '1.5', '0.1 fs', '3 GHz', '4294967296', '1 constructor', 'ns', '1 ns 2', '٣ ns'])(
    '%j is none',
    (text) => expect(parsePeriod(text)).toHaveProperty('problem'),
  );
});

describe('hostile text', () => {
  const cases: Record<string, string> = {
    'billion laughs': `${HEAD}enums:\n  a: &a [x]\nscopes:\n${'abcdefghij'
      .split('')
      .map(
        (c, i) =>
          `  ${c}: &s${i} {scopes: {${'123456789'.replace(/./g, (d) => `n${d}: ${i ? `*s${i - 1}` : '{}'}, `)}}}\n`,
      )
      .join('')}`,
    'a scope that contains itself': `${HEAD}scopes: &s\n  a: {scopes: *s}\n  b: {scopes: *s}\n`,
    'deep lists': '['.repeat(100_000),
    'deep mappings': '{a: '.repeat(50_000),
    'lists as deep as tokens allow': '['.repeat(399_000),
    'lists deep in one line': `${'- '.repeat(150_000)}x`,
    'deep indentation': Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    'many keys': `${HEAD}events:\n${Array.from({ length: 60_000 }, (_, i) => `  e${i}:\n`).join('')}`,
    'many documents': '---\n'.repeat(100_000),
    'too large': `${HEAD}# ${'x'.repeat(4 * 1024 * 1024)}`,
    'too many tokens': `${HEAD}dut: {a: [${','.repeat(1_000_000)}`,
    'only a tag': '!!set',
    'a binary file': String.fromCharCode(...Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
    'a long alias list': `${HEAD}dut: &d {a: b}\nenums: {e: [${'*d, '.repeat(20_000)}]}\n`,
  };

  it.each(Object.entries(cases))('%s is refused in time', { timeout: MANY_CASES_MS }, (_name, text) => {
    const start = performance.now();
    const { errors, result } = checkSchema(text);
    expect(result).toBeUndefined();
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error.code).toMatch(/^SCHEMA_/);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
