import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../sdk/src/base/codes.js';

/** `| \`CODE\` | meaning | what to do |` */
const ROW = /^\| `([A-Z0-9_]+)` \| (.+?) \| (.*) \|$/gm;

const text = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(ROW)].map(([, code, meaning, advice]) => ({ code, meaning, advice }));

describe('docs/reference/errors.md', () => {
  it('lists every code, in the order of the registry, and no other', () => {
    expect(rows.map((row) => row.code)).toEqual(Object.keys(ERROR_CODES));
  });

  it('says what the registry says', () => {
    expect(Object.fromEntries(rows.map((row) => [row.code, row.meaning]))).toEqual(ERROR_CODES);
  });

  it('says what to do about each', () => {
    expect(rows.filter((row) => (row.advice ?? '').length < 10)).toEqual([]);
  });
});
