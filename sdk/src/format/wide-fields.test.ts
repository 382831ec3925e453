import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runUscope } from '../../../test/support/run-cli.js';
import { checkSchema, parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';
import { FieldType } from './types.js';
import { joinPieces, logicalFields, splitPieces, wideFieldNames, wideText } from './wide-fields.js';

const u64 = (name: string) => ({ name, type: FieldType.U64 });
const schemaOf = (field: string) => `uscope: 1
clocks: {clk: 1 ns}
scopes:
  core:
    clock: clk
    storages:
      line: {slots: 2, kind: dense, fields: {tag: u8, data: ${field}}}
    events:
      fill: {tag: u8, data: ${field}}
`;

describe('wide fields', () => {
  it('are found by the names of their pieces, and only when these are whole', () => {
    const names = wideFieldNames('data', 130, true);
    expect(names).toEqual([
      'data.bits130.0',
      'data.bits130.1',
      'data.bits130.2',
      'data.bits130.x0',
      'data.bits130.x1',
      'data.bits130.x2',
    ]);
    const fields = [u64('tag'), ...names.map(u64), u64('last')];
    expect(logicalFields(fields)).toEqual([
      { name: 'tag', bits: 0, pieces: [0], unknown: [] },
      { name: 'data', bits: 130, pieces: [1, 2, 3], unknown: [4, 5, 6] },
      { name: 'last', bits: 0, pieces: [7], unknown: [] },
    ]);
    expect(logicalFields(fields.slice(0, 6)).map(({ bits, unknown }) => [bits, unknown.length])).toEqual([
      [0, 0],
      [130, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(logicalFields(fields.slice(0, 3)).map(({ bits }) => bits)).toEqual([0, 0, 0]);
    const narrow = names.map((name, index) => ({ name, type: index === 1 ? FieldType.U32 : FieldType.U64 }));
    expect(logicalFields(narrow).every(({ bits }) => bits === 0)).toBe(true);
  });

  it('come back as they were', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 65, max: 600 }),
        fc.bigInt({ min: 0n, max: (1n << 600n) - 1n }),
        (bits, any) => {
          const value = BigInt.asUintN(bits, any);
          const pieces = splitPieces(value, bits);
          expect(pieces).toHaveLength(Math.ceil(bits / 64));
          expect(joinPieces(pieces)).toBe(value);
          expect(BigInt(wideText(bits, value))).toBe(value);
        },
      ),
      { numRuns: 50 },
    );
    expect(wideText(68, 0xf0n << 60n, 0x1n << 64n)).toBe('0xx0000000000000000');
    expect(wideText(68, 0x5n, 0x2n)).toBe('0x0000000000000000z');
  });

  it('are declared by their bits, and shown as one value', async () => {
    const { schema, dut } = parseSchema(schemaOf('{bits: 100, states: 4}'));
    const directory = mkdtempSync(join(tmpdir(), 'uscope-wide-'));
    try {
      const path = join(directory, 'wide.uscope');
      const trace = await TraceWriter.create({ path, schema, dut });
      trace.beginCycle(1000);
      trace.slotSet('core/line', 1, 'data.bits100.0', 0x1234n);
      trace.slotSet('core/line', 1, 'data.bits100.1', 0xan);
      trace.event('core/fill', [7, 0x0fn, 1n, 0xf0n, 0n]);
      trace.endCycle();
      await trace.close();
      const value = `0x${((0xan << 64n) | 0x1234n).toString(16).padStart(25, '0')}`;
      const state = await runUscope(['state', path, '--at', '1000']);
      expect(state.out).toContain(`[1] tag=0 data=${value}\n`);
      const json = JSON.parse((await runUscope(['state', path, '--at', '1000', '--json'])).out);
      expect(json.storages[0].slots[1].fields.data).toBe(value);
      const shown = `0x${'1'.padStart(9, '0')}${'zf'.padStart(16, '0')}`;
      expect((await runUscope(['events', path])).out).toContain(`data=${shown}`);
      expect((await runUscope(['dump', '--jsonl', path])).out).toContain(`"data":"${shown}"`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it.each([
    ['{bits: 64}', '65 to 65536'],
    ['{bits: 70000}', '65 to 65536'],
    ['{bits: 100, states: 3}', 'there are 2 and 4'],
    ['{bits: many}', 'whole number'],
    ['{bits: 100, type: u8}', 'unknown key "type"'],
  ])('%s is refused with its place', (field, what) => {
    const { errors } = checkSchema(schemaOf(field), { file: 'wide.yaml' });
    expect(errors[0]?.message).toContain('wide.yaml:7:');
    expect(errors[0]?.message).toContain(what);
  });
});
