import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../../test/support/limits.js';
import { builtFrom, sourceDigest, withBuiltFrom } from '../../kernel/embed.mjs';
import { SOURCES_SHA256 } from './native-sources.js';

// Make is started.
limitOfFile(PROCESSES_MS);

const WASM = new URL('../wasm/', import.meta.url);
const NAMES = readdirSync(WASM).filter((name) => name.endsWith('.wasm'));

it.each(NAMES)(
  'the kernel %s that is checked in was compiled from the sources in sdk/kernel (else: make there)',
  (name) => {
    const { sources, sha256 } = builtFrom(readFileSync(new URL(name, WASM)))!;
    expect(sha256).toBe(sourceDigest(sources));
  },
);

it('a module says what it was compiled from, however long that is', () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  expect(builtFrom(empty)).toBeNull();
  const sources = Array.from({ length: 2000 }, (_, index) => `${index}.c`);
  const from = { compiler: 'clang', sources, sha256: 'd1' };
  expect(builtFrom(Uint8Array.from(withBuiltFrom(empty, from)))).toEqual(from);
});

describe('the addon', () => {
  it('has the digest of all that it is built from (else: make -C sdk/kernel/native sources): C files, their headers and how they are compiled', () => {
    const folder = fileURLToPath(new URL('../../kernel/native', import.meta.url));
    const built = execFileSync('make', ['-s', '-C', folder, 'print-sources'], { encoding: 'utf8' });
    const sources = built.trim().split(' ');
    expect(SOURCES_SHA256).toBe(sourceDigest(sources));
    for (const name of ['unfold', 'pool', 'crc32']) expect(sources).toContain(`native/${name}.c`);
  });
});
