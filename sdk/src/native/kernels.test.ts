import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../../test/support/limits.js';
import { sourceDigest } from '../../kernel/embed.mjs';
import * as frameRun from './frame-run-wasm.js';
import * as lz4 from './lz4-wasm.js';
import * as native from './native-sources.js';

// Make is started.
limitOfFile(PROCESSES_MS);

it.each(Object.entries({ frameRun, lz4 }))(
  'the kernel %s that is checked in was compiled from the sources beside it (else: make -C sdk/kernel)',
  (_, { SOURCES, SOURCES_SHA256 }) => {
    expect(SOURCES_SHA256).toBe(sourceDigest(SOURCES));
  },
);

describe('the addon', () => {
  it('has the digest of the sources next to it (else: make -C sdk/kernel/native sources)', () => {
    expect(native.SOURCES_SHA256).toBe(sourceDigest(native.SOURCES));
  });

  it('has a digest of all that it is built from: C files, their headers and how they are compiled', () => {
    const folder = fileURLToPath(new URL('../../kernel/native', import.meta.url));
    const built = execFileSync('make', ['-s', '-C', folder, 'print-sources'], { encoding: 'utf8' });
    expect(native.SOURCES).toEqual(built.trim().split(' '));
    for (const name of ['unfold', 'pool', 'crc32']) expect(native.SOURCES).toContain(`native/${name}.c`);
  });
});
