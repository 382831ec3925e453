// @ts-check
/**
 * A list spread into the arguments of a call overflows the stack where an input decides its length: a waveform of 420,355 variables did. `base/arrays.ts` has
 * `appendAll`, `maxOf` and `minOf` for lists of any length.
 */

/** Scripts of pages, which have no modules, over lists that the page makes itself. */
const ALLOWED = new Set(['cli/stats/page-script.ts', 'base/arrays.ts']);

/**
 * @param {ReadonlyMap<string, string>} sources path relative to sdk/src -> text
 * @returns {{ file: string, rule: string }[]} violations
 */
export function checkSpreadArguments(sources) {
  return [...sources]
    .filter(([file]) => !file.endsWith('.test.ts') && !ALLOWED.has(file))
    .flatMap(([file, text]) =>
      calls(text).map((call) => ({ file, rule: `spreads a list into ${call}…): use base/arrays.ts` })),
    );
}

/** Not where the dots begin an object: `push({ ...one })`. @param {string} text */
function calls(text) {
  return [...text.matchAll(/(?:\.(?:push|unshift|splice)|Math\.(?:max|min))\(/g)].flatMap(
    ({ 0: call, index }) => (hasSpreadArgument(text, index + call.length) ? [call] : []),
  );
}

/** @param {string} text @param {number} start after the parenthesis */
function hasSpreadArgument(text, start) {
  let depth = 0;
  for (let at = start; at < text.length && depth >= 0; at++) {
    const one = text[at] ?? '';
    if (depth === 0 && /^\.{3}[\w([]/.test(text.slice(at, at + 4))) return true;
    if ('([{'.includes(one)) depth++;
    else if (')]}'.includes(one)) depth--;
  }
  return false;
}
