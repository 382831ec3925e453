import { expect, it } from 'vitest';
import { sourceDigest } from '../../../kernel/embed.mjs';
import { KERNEL_SOURCE_SHA256 } from './frame-run-wasm.js';

it('the kernel that is checked in was compiled from the sources beside it (else: make -C sdk/kernel)', () => {
  expect(KERNEL_SOURCE_SHA256).toBe(sourceDigest());
});
