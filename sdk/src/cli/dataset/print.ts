/** Rows of a question as text: a table, JSON, lines of JSON, CSV, Markdown. */
import { onOneLine } from '../../base/printable.js';
import { shortNumber, table } from '../common/chart.js';
import { io } from '../common/io.js';

export const FORMS = ['table', 'json', 'jsonl', 'csv', 'markdown'] as const;
export type Form = (typeof FORMS)[number];

/** What DuckDB gives: 64-bit integers as bigint. */
export type Cell = unknown;

/** Beyond, a table is not a table to read; the other forms print all. */
const MAX_TABLE_ROWS = 10_000;
/** Of EXPLAIN. */
const PLAN_COLUMNS = 'explain_key,explain_value';

export class RowPrinter {
  private readonly kept: string[][] = [];
  private count = 0;
  /** Of the engine, which draws it in lines. */
  private readonly isPlan: boolean;

  constructor(
    private readonly form: Form,
    private readonly names: readonly string[],
  ) {
    this.isPlan = form === 'table' && names.join() === PLAN_COLUMNS;
    if (form === 'csv') io.out(`${names.map(csv).join(',')}\n`);
    if (form === 'json') io.out('[');
    if (form === 'markdown') {
      io.out(`| ${names.map(markdown).join(' | ')} |\n|${names.map(() => '---|').join('')}\n`);
    }
  }

  row(cells: readonly Cell[]): void {
    const { form, names } = this;
    this.count++;
    if (form === 'csv') io.out(`${cells.map((cell) => csv(text(cell))).join(',')}\n`);
    else if (form === 'markdown') io.out(`| ${cells.map((cell) => markdown(text(cell))).join(' | ')} |\n`);
    else if (this.isPlan) io.out(`${text(cells[1]).trimEnd().split('\n').map(onOneLine).join('\n')}\n`);
    else if (form === 'table') {
      if (this.count <= MAX_TABLE_ROWS) this.kept.push(cells.map(shown));
    } else {
      const object = JSON.stringify(
        Object.fromEntries(names.map((name, index) => [name, json(cells[index])])),
      );
      io.out(form === 'jsonl' ? `${object}\n` : `${this.count > 1 ? ',' : ''}\n${object}`);
    }
  }

  end(): void {
    if (this.form === 'json') io.out(this.count > 0 ? '\n]\n' : ']\n');
    if (this.form !== 'table' || this.isPlan) return;
    const isText = this.names.map((_, index) =>
      this.kept.some((row) => row[index] !== '' && Number.isNaN(Number(row[index]))),
    );
    io.out(
      table(
        [this.names.map(onOneLine), ...this.kept],
        [...isText.keys()].filter((index) => isText[index]),
      ),
    );
    if (this.count > MAX_TABLE_ROWS) io.out(`the first ${MAX_TABLE_ROWS} of ${this.count} rows\n`);
  }
}

/** 64-bit integers are decimal strings, so that no program loses digits: docs/reference/cli.md. */
export function json(cell: Cell): unknown {
  if (typeof cell === 'bigint') {
    return cell >= BigInt(Number.MIN_SAFE_INTEGER) && cell <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(cell)
      : String(cell);
  }
  if (cell === null || ['string', 'number', 'boolean'].includes(typeof cell)) return cell;
  return String(cell);
}

const text = (cell: Cell): string => (cell === null ? '' : String(cell));
const shown = (cell: Cell): string => (typeof cell === 'number' ? shortNumber(cell) : onOneLine(text(cell)));
const csv = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const markdown = (value: string): string => onOneLine(value.replaceAll('\\', '\\\\').replaceAll('|', '\\|'));
