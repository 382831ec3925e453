/** How checked-in WebAssembly is compared with what is compiled of its sources. */
import { expect, it } from 'vitest';
import { withBuiltFrom } from '../sdk/kernel/embed.mjs';
import { compareModules } from './check-wasm.mjs';

const EMPTY = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** A custom section without contents, of this name of one byte. */
const section = (name: string) => [0, 2, 1, name.charCodeAt(0)];

const module = (compiler: string, sha256: string, name: string) =>
  Uint8Array.from(
    withBuiltFrom(Uint8Array.from([...EMPTY, ...section(name)]), {
      compiler,
      sources: ['a.c', 'a.h'],
      sha256,
    }),
  );

it('of the same compiler every byte counts', () => {
  const checkedIn = module('clang 14', 'd1', 'a');
  expect(compareModules(checkedIn, checkedIn)).toEqual({ equal: true, compared: 'bytes' });
  const other = module('clang 14', 'd1', 'b');
  expect(compareModules(checkedIn, other)).toEqual({ equal: false, compared: 'bytes' });
});

it('of another compiler only the sources count, and it is said', () => {
  const checkedIn = module('clang 14', 'd1', 'a');
  expect(compareModules(checkedIn, module('clang 19', 'd1', 'b'))).toEqual({
    equal: true,
    compared: 'sources',
  });
  expect(compareModules(checkedIn, module('clang 19', 'd2', 'a'))).toEqual({
    equal: false,
    compared: 'sources',
  });
});

it('a module without a digest is equal to none', () => {
  expect(compareModules(Uint8Array.from(EMPTY), module('clang 14', 'd1', 'a')).equal).toBe(false);
});
