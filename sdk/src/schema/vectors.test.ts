import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { encodeSchemaPayload } from '../format/schema-chunk.js';
import { checkSchema, parseSchema, schemaToText } from './index.js';

/** USCOPE_UPDATE_VECTORS=1 writes what is expected anew; read the difference before you commit it. */
const update = process.env.USCOPE_UPDATE_VECTORS === '1';
const directory = new URL('../../../test/vectors/schema/', import.meta.url);
const files = readdirSync(fileURLToPath(directory)).filter((name) => name.endsWith('.yaml'));
const read = (name: string): string => readFileSync(new URL(name, directory), 'utf8');
const expected = (name: string, actual: string): string => {
  if (update) writeFileSync(new URL(name, directory), actual);
  return read(name);
};

describe('bad schema files: the exact message', () => {
  const bad = files.filter((name) => name.endsWith('_bad.yaml'));
  it('has vectors', () => expect(bad.length).toBeGreaterThan(60));

  it.each(bad)('%s', (name) => {
    const { errors, result } = checkSchema(read(name), { file: name });
    expect(result).toBeUndefined();
    const text = `${errors.map((error) => error.message).join('\n')}\n`;
    expect(text).toBe(expected(name.replace('.yaml', '.txt'), text));
    for (const error of errors) {
      expect(error.code).toMatch(/^SCHEMA_/);
      expect(error.place).toMatchObject({ file: name, line: expect.any(Number), column: expect.any(Number) });
    }
    expect(() => parseSchema(read(name), { file: name })).toThrow(text.trimEnd());
  });
});

describe('good schema files: the schema they define', () => {
  const good = files.filter((name) => !name.endsWith('_bad.yaml'));
  it('has vectors', () => expect(good.length).toBeGreaterThan(4));

  it.each(good)('%s', (name) => {
    const parsed = parseSchema(read(name), { file: name });
    const json = `${JSON.stringify(parsed, null, 1)}\n`;
    expect(json).toBe(expected(name.replace('.yaml', '.json'), json));
    expect(parseSchema(schemaToText(parsed.schema, parsed.dut))).toEqual(parsed);
    expect(() => encodeSchemaPayload(parsed.schema, parsed.dut)).not.toThrow();
  });
});
