import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const vectors = fileURLToPath(new URL('.', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'uscope-vectors-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('the golden messages are what their generator writes', () => {
  execFileSync(process.execPath, [join(vectors, 'generate.mjs'), directory]);
  const contents = (of: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(of)
        .filter((name) => /\.(bin|json)$/.test(name))
        .map((name) => [name, readFileSync(join(of, name)).toString('latin1')]),
    );
  expect(contents(directory)).toEqual(contents(vectors));
});
