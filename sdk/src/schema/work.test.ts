/** What a schema may cost to read: counted, because a few bytes of text can ask for very much work. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { isUscopeError } from '../base/errors.js';
import { SchemaBuilder } from './builder.js';
import { parseSchema, parseUnboundSchema } from './index.js';
import { SchemaWork, WORK_LIMITS } from './work.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const HEAD = 'uscope: 1\nclocks: {clk: 1 ns}\n';

/** What reading the text came to, whether it was read or refused. */
function workOf(
  text: string,
  variables: Record<string, string> = {},
): { work: SchemaWork; refused: string | null } {
  const work = new SchemaWork();
  try {
    parseSchema(text, { variables, work });
    return { work, refused: null };
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    return { work, refused: error.message };
  }
}

function expectWithinLimits({ tokens, aliases, entries, chars }: SchemaWork): void {
  // What goes beyond a limit is counted before it is refused.
  expect(tokens).toBeLessThanOrEqual(WORK_LIMITS.tokens + 1);
  expect(aliases).toBeLessThanOrEqual(WORK_LIMITS.aliases + 1);
  expect(entries).toBeLessThanOrEqual(WORK_LIMITS.entries + 1);
  expect(chars).toBeLessThanOrEqual(WORK_LIMITS.chars + 65_536);
}

describe('a text that repeats a variable', () => {
  const repeat = (length: number, times: number, keys: number): string =>
    `${HEAD}variables: {a: ${'x'.repeat(length)}}\ndut:\n${Array.from(
      { length: keys },
      (_, k) => `  k${k}: "${'${a}'.repeat(times)}"\n`,
    ).join('')}`;

  it('is refused before a value becomes longer than the format holds', () => {
    const { work, refused } = workOf(repeat(60_000, 1000, 34));
    expect(refused).toContain('line 5:7: SCHEMA_LIMIT: a text of 120000 characters');
    expect(refused).toContain('shorten it');
    // The text itself, and two copies of the value: not a thousand.
    expect(work.chars).toBeLessThan(60_000 + 34 * 4100 + 2 * 60_000);
  });

  it('is refused before all values together are more than allowed', () => {
    const { work, refused } = workOf(repeat(60_000, 1, 9000));
    expect(refused).toMatch(/line \d+:\d+: SCHEMA_LIMIT: names and values .* variables expanded/);
    expectWithinLimits(work);
  });

  it('is refused with values that come from outside, too', () => {
    const { refused } = workOf(`${HEAD}dut: {k: "${'${v}'.repeat(3000)}"}\n`, { v: 'y'.repeat(1000) });
    expect(refused).toContain('line 3:10: SCHEMA_LIMIT: a text of 66000 characters');
  });

  it('is read as long as it fits', () => {
    const { dut } = parseSchema(repeat(1000, 60, 1));
    expect(dut).toEqual([['k0', 'x'.repeat(60_000)]]);
  });
});

describe('a text that repeats an alias', () => {
  it('is refused at the alias that is one too many, merge keys included', () => {
    const text = `a: &a {x: 1}\nb: {<<: [${Array(190_000).fill('*a').join(',')}]}\n`;
    const { work, refused } = workOf(text);
    expect(refused).toContain(
      `line 2:${10 + 3 * WORK_LIMITS.aliases}: SCHEMA_LIMIT: the schema has more than ${WORK_LIMITS.aliases} aliases`,
    );
    // No further than there: the rest of the text is not even split into tokens.
    expect(work.tokens).toBeLessThan(3 * WORK_LIMITS.aliases);
    expect(work.entries).toBe(0);
  });

  it('is refused when what it names has many entries', () => {
    const names = Array.from({ length: 255 }, (_, i) => `n${i}`).join(', ');
    const enums = Array.from({ length: 1000 }, (_, i) => `  e${i}: *v\n`).join('');
    const { work, refused } = workOf(`${HEAD}enums:\n  first: &v [${names}]\n${enums}`);
    expect(refused).toContain('SCHEMA_LIMIT: the schema has more than 200000 entries, aliases expanded');
    expectWithinLimits(work);
  });

  it('is refused when what it names is long', () => {
    const keys = Array.from({ length: 9000 }, (_, i) => `  k${i}: *v\n`).join('');
    const { work, refused } = workOf(`${HEAD}variables: {v: &v ${'x'.repeat(60_000)}}\ndut:\n${keys}`);
    expect(refused).toContain('SCHEMA_LIMIT: names and values of the schema take more than');
    expectWithinLimits(work);
  });
});

describe('names', () => {
  const long = 'n'.repeat(900);

  it('of scopes in each other are refused where their path becomes too long', () => {
    let text = HEAD;
    for (let depth = 0; depth < 60; depth++)
      text += `${'  '.repeat(depth)}scopes:\n${'  '.repeat(depth)} ${long}:\n`;
    expect(workOf(text).refused).toContain('has 4504 characters; at most 4096 are allowed');
  });

  it('built by calls are held to the same', () => {
    const builder = new SchemaBuilder().clock('clk', 1000);
    builder.scope('n'.repeat(3000)).scope('n'.repeat(3000)).counter('c');
    expect(() => builder.build()).toThrow(/SCHEMA_LIMIT: the path of scope/);
  });

  it('make messages no longer than a person reads', () => {
    const wrong = Array.from({ length: 90 }, (_, i) => `"${' '.repeat(20_000)}${i}": {}`).join(', ');
    const { refused } = workOf(`${HEAD}events: {${wrong}}\n`);
    expect(refused).toContain('SCHEMA_NAME');
    expect(refused!.length).toBeLessThan(90 * 2200);
  });
});

describe('any text', () => {
  /** Anchors, aliases, variables and merges of each other, with sizes that multiply. */
  const bomb = fc
    .record({
      value: fc.nat(5000),
      repeats: fc.nat(400),
      fanOut: fc.integer({ min: 1, max: 40 }),
      levels: fc.nat(6),
      keys: fc.nat(300),
      section: fc.constantFrom('dut', 'enums', 'events', 'storages', 'variables', 'nothing'),
      merge: fc.boolean(),
    })
    .map(({ value, repeats, fanOut, levels, keys, section, merge }) => {
      let text = `${HEAD}variables: {a: &l0 ${'x'.repeat(value + 1)}}\n`;
      for (let level = 1; level <= levels; level++) {
        const items = Array(fanOut).fill(`*l${level - 1}`);
        text += `x${level}: &l${level} ${merge ? `{<<: [${items}]}` : `[${items}]`}\n`;
      }
      const entries = Array.from({ length: keys }, (_, key) =>
        key % 2 ? `  k${key}: *l${levels}\n` : `  k${key}: "${'${a}'.repeat(repeats)}"\n`,
      );
      return `${text}${section}:\n${entries.join('')}`;
    });

  it('takes no more work than the limits allow, whatever it repeats', () => {
    fc.assert(
      fc.property(bomb, (text) => {
        const { work } = workOf(text);
        expectWithinLimits(work);
        // Tokens are no more than characters: nothing is multiplied before it is counted.
        expect(work.tokens).toBeLessThanOrEqual(text.length * 2);
      }),
      { numRuns: 60 },
    );
  });

  it('is held to narrower limits where they are asked for', () => {
    const work = new SchemaWork({ ...WORK_LIMITS, tokens: 10 });
    expect(() => parseSchema(`${HEAD}storages: {c: counter}\n`, { work })).toThrow('more than 10 tokens');
    expect(work.isExceeded).toBe(true);
    const unbound = new SchemaWork({ ...WORK_LIMITS, entries: 2 });
    expect(() => parseUnboundSchema(HEAD, { work: unbound })).toThrow('more than 2 entries');
  });
});
