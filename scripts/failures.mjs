// @ts-check
/** What failed, and what passed only the second time, repeated at the end of a run: people who read a long log often have only its end. */

/** Lines of each failure, its name included, and failures of one step. */
const LINES = 7;
const MOST = 20;
const LONGEST = 200;

/** How the programs of our steps begin the report of a failure: vitest, the C tests, pytest, make and compilers, the torture runs. */
const BEGINS =
  /^\s*(FAIL(ED)?|ERROR|not ok)\b|Unhandled (Error|Rejection)|: (fatal )?error: |\*\*\* \[|, seed \d+$/;
/** A line of again-reporter.mjs begins so. */
export const AGAIN = 'passed only when run again:';
/** Escapes of colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
const COLOURS = /\x1b\[[0-9;]*m/g;

/**
 * The failures that an output reports: name and first lines of the message. Its last lines where it names none.
 * @param {string} output
 * @returns {string[]}
 */
export function failureLines(output) {
  const lines = output
    .replace(COLOURS, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const starts = lines.flatMap((line, index) => (BEGINS.test(line) ? [index] : []));
  if (starts.length === 0) return lines.slice(-LINES).map(cut);
  const shown = starts.slice(0, MOST).flatMap((start, index) => {
    const end = Math.min(start + LINES, starts[index + 1] ?? lines.length);
    return lines.slice(start, end).map(cut);
  });
  return starts.length > MOST ? [...shown, `… ${starts.length - MOST} more`] : shown;
}

/** @param {string} line */
function cut(line) {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/**
 * The tests that passed only when they ran again.
 * @param {string} output
 * @returns {string[]}
 */
export function againLines(output) {
  const lines = output.replace(COLOURS, '').split('\n');
  return lines.filter((line) => line.startsWith(AGAIN)).map((line) => cut(line.slice(AGAIN.length).trim()));
}

/** @type {{title: string, lines: string[]}[]} */
const failures = [];
/** @type {string[]} */
const again = [];

/**
 * Remembers which tests of a step passed only when they ran again.
 * @param {string} output
 */
export function noteAgain(output) {
  again.push(...againLines(output));
}

/**
 * Remembers a step that failed.
 * @param {string} title
 * @param {string} output
 */
export function noteFailure(title, output) {
  failures.push({ title, lines: failureLines(output) });
}

/** Prints what was remembered, if anything: the last thing before the summary. */
export function printFailures() {
  if (again.length > 0)
    console.log(`\nFailed, and passed when run again\n${again.map((line) => `    ${line}`).join('\n')}`);
  if (failures.length === 0) return;
  const text = failures.map(({ title, lines }) => [title, ...lines.map((line) => `    ${line}`)].join('\n'));
  console.log(`\nFailed\n${text.join('\n')}`);
}
