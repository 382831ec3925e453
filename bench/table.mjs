// @ts-check
/** Results as people read them. */

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {number} value
 * @property {string} unit
 * @property {{atMost: number} | {atLeast: number}} [target] What the project promises.
 * @property {string} [limit] What the machine could do at best, measured in the same run.
 * @property {number} [bound] That limit as a number in the same unit: `compare` compares value / bound.
 * @property {number} [min] Least and greatest of the runs whose median `value` is.
 * @property {number} [max]
 * @property {number} [runs]
 * @property {string} [series] Rows of one plot, a `line` in it, and where on it.
 * @property {string} [line]
 * @property {number} [x]
 */

/** @param {Row} row */
export function meetsTarget({ value, target }) {
  if (!target) return true;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

/**
 * @param {string} title
 * @param {readonly Row[]} rows
 */
export function printTable(title, rows) {
  console.log(`\n${title}`);
  const width = Math.max(...rows.map((row) => row.name.length));
  for (const row of rows) {
    const cells = [
      `  ${row.name.padEnd(width)}`,
      measured(row).padEnd(20),
      targetText(row).padEnd(22),
      row.limit ?? '',
    ];
    console.log(cells.join('  ').trimEnd());
  }
}

/** As the tables show it. @param {Row} row */
export function shownValue({ value, unit }) {
  return unit === 'ns' ? duration(value) : `${format(value)} ${unit}`.trim();
}

/** @param {Row} row */
function measured({ value, unit }) {
  const [number, shown] = unit === 'ns' ? duration(value).split(' ') : [format(value), unit];
  return `${number.padStart(10)} ${shown}`;
}

/**
 * Nanoseconds in the unit that people would use.
 * @param {number} ns
 */
export function duration(ns) {
  if (ns >= 1e6) return `${format(ns / 1e6)} ms`;
  return ns >= 1e4 ? `${format(ns / 1e3)} µs` : `${format(ns)} ns`;
}

/** @param {Row} row */
export function targetText(row) {
  if (!row.target) return '';
  const { target, unit } = row;
  const shown = (/** @type {number} */ value) => (unit === 'ns' ? duration(value) : format(value));
  const bound = 'atMost' in target ? `≤ ${shown(target.atMost)}` : `≥ ${shown(target.atLeast)}`;
  return `${bound} ${meetsTarget(row) ? 'met' : 'MISSED'}`;
}

/** Three or four significant digits, thousands separated. @param {number} value */
export function format(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
