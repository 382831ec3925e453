/** Small charts made of characters. */
import { maxOf, minOf } from '../../base/arrays.js';
import { printableOutput } from '../../base/printable.js';

const LEVELS = '▁▂▃▄▅▆▇█';
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One character per value, as high as its part of the range from 0 (or the least value, where that is below) to the greatest. */
export function sparkline(values: readonly number[]): string {
  const least = minOf(values, 0);
  const span = maxOf(values, 0) - least;
  if (span <= 0) return LEVELS[0].repeat(values.length);
  return values
    .map((value) => LEVELS[Math.min(LEVELS.length - 1, Math.floor(((value - least) / span) * LEVELS.length))])
    .join('');
}

/** A bar of at most `width` characters for a fraction from 0 to 1; something that is not nothing can be seen. */
export function bar(fraction: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * width * 8);
  if (eighths === 0) return fraction > 0 ? EIGHTHS[1] : '';
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7];
}

/** Rows as columns: the first to the left, numbers to the right. Cells may be coloured; else they are text of a file. */
export function table(rows: readonly (readonly string[])[], left: readonly number[] = [0]): string {
  const widths: number[] = [];
  const cells = rows.map((row) => row.map((cell) => printableOutput(cell).replace(/[\n\t]/g, ' ')));
  for (const row of cells) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        left.includes(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd();
  return cells.map((row) => `${line(row)}\n`).join('');
}

/** A number for people: whole ones as they are, others with four significant digits and no exponent where that is short. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const text = value.toPrecision(4);
  return text.includes('e') ? value.toExponential(2) : text;
}
