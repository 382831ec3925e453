import { describe, expect, it } from 'vitest';
import { parseUnboundSchema } from '../schema/index.js';
import { checkFingerprint, MAX_FINGERPRINT, schemaFingerprint } from './fingerprint.js';

const YAML = `uscope: 1
variables: {core: 0}
clocks: {clk: 1 ns}
enums: {reason: [full, empty]}
scopes:
  core\${core}:
    storages:
      cycles: counter
      rob: {slots: 4, kind: buffer, fields: {entity_id: u32}}
    events:
      stall: {reason: reason}
`;
const fingerprintOf = (text: string): string => schemaFingerprint(parseUnboundSchema(text).schema);

describe('the fingerprint of a schema', () => {
  it('is the same for the same definitions in another form', () => {
    const json = JSON.stringify({
      clocks: { clk: 1000 },
      uscope: 1,
      enums: { reason: ['full', 'empty'] },
      scopes: {
        'core${core}': {
          storages: {
            cycles: { slots: 1, kind: 'dense', fields: { count: { type: 'u64' } } },
            rob: { slots: 4, kind: 'buffer', fields: { entity_id: 'u32' } },
          },
          events: { stall: { reason: 'reason' } },
        },
      },
      variables: { core: 7 },
      dut: { dut_name: 'y' },
    });
    expect(fingerprintOf(json)).toBe(fingerprintOf(YAML));
  });

  it('has a part for each definition, up to 400', () => {
    const counters = (count: number): string =>
      `uscope: 1\nclocks: {clk: 1 ns}\nstorages: {${Array.from({ length: count }, (_, i) => `c${i}: counter`).join(', ')}}\n`;
    // A clock and the root scope are definitions, too.
    expect(fingerprintOf(counters(398))).toHaveLength(MAX_FINGERPRINT);
    expect(fingerprintOf(counters(399))).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('another schema is refused, with what differs', () => {
  const expected = fingerprintOf(YAML);
  it('but not the same one', () => expect(() => checkFingerprint(YAML, expected)).not.toThrow());

  it.each([
    ['a name', 'cycles:', 'ticks:', 'changed or new: storage "core${core}/ticks"; changed or gone: 1'],
    ['a shape', 'slots: 4', 'slots: 8', 'changed or new: storage "core${core}/rob"; changed or gone: 1'],
    ['a field type', 'u32', 'u16', 'changed or new: storage "core${core}/rob"; changed or gone: 1'],
    ['a period', '1 ns', '2 ns', 'changed or new: clock "clk"; changed or gone: 1'],
    ['a label', 'empty', 'none', 'changed or new: enum "reason"; changed or gone: 1'],
    ['one more', 'enums: {', 'enums: {a: [b], ', 'changed or new: enum "a")'],
    ['one less', '      cycles: counter\n', '', "(changed or gone: 1 of the code's definitions)"],
    [
      'a scope',
      'scopes:',
      'scopes:\n  s: {events: {e: {}, f: {}, g: {}, h: {}, i: {}}}',
      '"s/h" and 1 more)',
    ],
  ])('%s', (_what, from, to, says) => {
    const text = YAML.replace(from, () => to);
    expect(text).not.toBe(YAML);
    expect(() => checkFingerprint(text, expected, { file: 'a.yaml' })).toThrow(says);
  });

  it('in the order of definitions, which makes other ids', () => {
    const [cycles, rob] = ['      cycles: counter\n', / {6}rob: .*\n/.exec(YAML)?.[0] ?? ''];
    const text = YAML.replace(cycles + rob, () => rob + cycles);
    expect(() => checkFingerprint(text, expected, { file: 'a.yaml' })).toThrow(
      'a.yaml: SCHEMA_MISMATCH: this is not the schema from which the code of the client was generated (the same definitions in another order): generate it again with uscope codegen, or run with the schema that its first lines name',
    );
  });

  it('as far as code says what it was generated from', () => {
    for (const given of ['0'.repeat(64), 'nonsense']) {
      expect(() => checkFingerprint(YAML, given)).toThrow('the code does not say what');
    }
  });
});
