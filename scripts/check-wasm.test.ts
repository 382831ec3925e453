/** How checked-in WebAssembly is compared with what is compiled of its sources. */
import { expect, it } from 'vitest';
import { compareModules } from './check-wasm.mjs';

const module = (compiler: string, digest: string, bytes: string) => `/** Compiled. */
export const COMPILER = '${compiler}';
export const SOURCES = ['a.c', 'a.h'];
export const SOURCES_SHA256 = '${digest}';
export const WASM_BASE64 = \`
${bytes}
\`;
`;

it('of the same compiler every byte counts', () => {
  const checkedIn = module('clang 14', 'd1', 'AAAA');
  expect(compareModules(checkedIn, checkedIn)).toEqual({ equal: true, compared: 'bytes' });
  const other = module('clang 14', 'd1', 'AAAB');
  expect(compareModules(checkedIn, other)).toEqual({ equal: false, compared: 'bytes' });
});

it('of another compiler only the sources count, and it is said', () => {
  const checkedIn = module('clang 14', 'd1', 'AAAA');
  expect(compareModules(checkedIn, module('clang 19', 'd1', 'BBBB'))).toEqual({
    equal: true,
    compared: 'sources',
  });
  expect(compareModules(checkedIn, module('clang 19', 'd2', 'AAAA'))).toEqual({
    equal: false,
    compared: 'sources',
  });
});

it('a module without a digest is equal to none', () => {
  expect(compareModules('', module('clang 14', 'd1', 'AAAA')).equal).toBe(false);
});
