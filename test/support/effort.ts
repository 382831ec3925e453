/**
 * How much of what could be tried is tried: a part in `npm test`, all of it in `npm run test:long`, which sets `USCOPE_TEST_ALL=1`. Import
 * this file directly: test-long.mjs finds the tests by it.
 */
export const TRIES_ALL = process.env.USCOPE_TEST_ALL === '1';

/** Of places that are tried one after the other: every `step`-th, or each. A step that shares no factor with 8 meets all bits of a byte. */
export const stride = (step: number): number => (TRIES_ALL ? 1 : step);

/** How many random cases there are: `few`, or all. The part `properties` of test-long.mjs tries other seeds besides. */
export const cases = (few: number, all = 4 * few): number => (TRIES_ALL ? all : few);

/** The first `few` of several cases of one kind, or all. */
export const someOf = <T>(few: number, all: readonly T[]): readonly T[] =>
  all.slice(0, cases(few, all.length));
