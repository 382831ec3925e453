/** Every golden vector of this folder: decode(bin) equals json, encode(json) equals bin. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isUscopeError } from '../../../sdk/src/base/errors.js';
import { type Context, decode, encode } from './codec.js';
import { vectors } from './make.js';
import { toHex } from './source/hex.js';
import type { Vector } from './source/vector.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

if (process.env.UPDATE_VECTORS) {
  for (const vector of vectors) {
    writeFileSync(`${folder}${vector.name}.bin`, vector.bytes);
    writeFileSync(`${folder}${vector.name}.json`, `${JSON.stringify(vector.json, null, 2)}\n`);
  }
}

const names = readdirSync(folder)
  .filter((name) => name.endsWith('.bin'))
  .map((name) => name.slice(0, -'.bin'.length));

describe('golden vectors of the file format', () => {
  test('the folder holds exactly the vectors spelled out in source/', () => {
    expect(names.sort()).toEqual(vectors.map((vector) => vector.name).sort());
    for (const vector of vectors) {
      expect(toHex(readFileSync(`${folder}${vector.name}.bin`)), vector.name).toBe(toHex(vector.bytes));
      expect(JSON.parse(readFileSync(`${folder}${vector.name}.json`, 'utf8')), vector.name).toEqual(
        vector.json,
      );
    }
  });

  for (const name of names) {
    const bytes = new Uint8Array(readFileSync(`${folder}${name}.bin`));
    const json = JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Vector['json'];
    const context = json.context ?? {};
    if (json.error !== undefined) {
      test(`${name}: ${json.about} is ${json.error}`, () => {
        expect(() => decode(json.structure, bytes, context)).toThrow(
          expect.objectContaining({ name: 'UscopeError', code: json.error }),
        );
      });
      continue;
    }
    test(`${name} decodes: ${json.about}`, () => {
      expect(decode(json.structure, bytes, context)).toEqual(json.value);
    });
    if (json.decodeOnly) continue;
    test(`${name} encodes`, () => {
      expect(toHex(encode(json.structure, json.value!, context))).toBe(toHex(bytes));
    });
  }

  for (const name of names) {
    const bytes = new Uint8Array(readFileSync(`${folder}${name}.bin`));
    const { structure, context = {} } = JSON.parse(
      readFileSync(`${folder}${name}.json`, 'utf8'),
    ) as Vector['json'];

    test(`${name} cut at any byte decodes or ends in a coded error`, () => {
      for (let size = 0; size < bytes.length; size++) {
        decodeOrCodedError(structure, bytes.slice(0, size), context);
      }
    });

    test(`${name} with any one byte changed decodes or ends in a coded error`, () => {
      for (let at = 0; at < bytes.length; at++) {
        for (const flip of [0x01, 0x80, 0xff]) {
          const changed = bytes.slice();
          changed[at] ^= flip;
          decodeOrCodedError(structure, changed, context);
        }
      }
    });
  }
});

/** Anything thrown but a UscopeError (a RangeError, a TypeError, ...) fails the test. */
function decodeOrCodedError(structure: string, bytes: Uint8Array, context: Context): void {
  try {
    decode(structure, bytes, context);
  } catch (error) {
    if (!isUscopeError(error)) throw error;
  }
}
