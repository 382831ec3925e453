import { expect, it } from 'vitest';
import { sourceDigest } from '../../../kernel/embed.mjs';
import * as frameRun from './frame-run-wasm.js';
import * as lz4 from './lz4-wasm.js';

it.each(Object.entries({ frameRun, lz4 }))(
  'the kernel %s that is checked in was compiled from the sources beside it (else: make -C sdk/kernel)',
  (_, { SOURCES, SOURCES_SHA256 }) => {
    expect(SOURCES_SHA256).toBe(sourceDigest(SOURCES));
  },
);
