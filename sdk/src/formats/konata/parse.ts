/** One line of a Kanata log. */
import { UscopeError } from '../../base/errors.js';
import { KANATA_VERSION, type KanataRecord } from './types.js';

/** @throws UscopeError CONVERT_UNKNOWN (no Kanata log), CONVERT_UNSUPPORTED (another version) */
export function checkHeader(line: string): void {
  const [name, version] = line.split('\t').map((column) => column.trim());
  if (name !== 'Kanata') {
    throw new UscopeError(
      'CONVERT_UNKNOWN',
      'the file does not begin with "Kanata" and a tab: it is no Kanata log',
      {
        offset: 0,
      },
    );
  }
  if (version === KANATA_VERSION) return;
  throw new UscopeError(
    'CONVERT_UNSUPPORTED',
    `Kanata version "${version}"; this release reads ${KANATA_VERSION}`,
    {
      offset: 0,
    },
  );
}

/**
 * Null for an empty line. Columns after those of the command are comments.
 * @throws UscopeError CONVERT_FORMAT: not a command, a column is missing, or not the number it has to be
 */
export function parseLine(line: string, offset: number): KanataRecord | null {
  if (line.trim() === '') return null;
  const columns = new Columns(line.split('\t'), offset);
  switch (columns.name) {
    case 'C=':
      return { kind: 'cycle', cycle: columns.big(1, 'a cycle', -MAX_BIG) };
    case 'C':
      return { kind: 'advance', cycles: columns.big(1, 'a number of cycles') };
    case 'I':
      return {
        kind: 'begin',
        id: columns.id(1),
        gid: columns.big(2, 'a number'),
        tid: columns.int(3, 'a thread'),
      };
    case 'L':
      return { kind: 'label', id: columns.id(1), type: columns.int(2, 'a kind'), text: columns.text(3) };
    case 'S':
      return { kind: 'start', id: columns.id(1), lane: columns.int(2, 'a lane'), stage: columns.stage(3) };
    case 'E':
      return { kind: 'end', id: columns.id(1), lane: columns.int(2, 'a lane'), stage: columns.stage(3) };
    case 'R':
      return {
        kind: 'retire',
        id: columns.id(1),
        rid: columns.big(2, 'a number'),
        type: columns.int(3, 'a type'),
      };
    case 'W':
      return {
        kind: 'dependency',
        consumer: columns.id(1),
        producer: columns.id(2),
        type: columns.int(3, 'a type'),
      };
    default:
      throw columns.error(`"${columns.name.slice(0, 20)}" is no command of Kanata ${KANATA_VERSION}`);
  }
}

/** Signed 62 bits: cycles times a period still fit into the times of a trace, which is checked there. */
const MAX_BIG = (1n << 64n) - 1n;

class Columns {
  constructor(
    private readonly columns: readonly string[],
    private readonly offset: number,
  ) {}

  get name(): string {
    return (this.columns[0] ?? '').trim();
  }

  id(index: number): number {
    return this.int(index, 'an id');
  }

  int(index: number, what: string): number {
    const text = this.column(index, what);
    const value = wholeNumber(text);
    if (value >= 0) return value;
    throw this.error(`${what} is due in column ${index + 1}, not "${text.slice(0, 40)}"`);
  }

  big(index: number, what: string, least = 0n): bigint {
    const text = this.column(index, what);
    if (/^-?\d{1,20}$/.test(text)) {
      const value = BigInt(text);
      if (value >= least && value <= MAX_BIG) return value;
    }
    throw this.error(`${what} is due in column ${index + 1}, not "${text.slice(0, 40)}"`);
  }

  /** Unchanged; a missing one is empty: viewers take that too. */
  text(index: number): string {
    return this.columns[index] ?? '';
  }

  stage(index: number): string {
    const text = this.column(index, 'a stage');
    if (text !== '') return text;
    throw this.error(`a stage is due in column ${index + 1}`);
  }

  error(detail: string): UscopeError {
    return new UscopeError('CONVERT_FORMAT', detail, { offset: this.offset });
  }

  private column(index: number, what: string): string {
    const text = this.columns[index];
    if (text !== undefined) return text.trim();
    throw this.error(`${this.name} has ${this.columns.length} columns; ${what} is missing`);
  }
}

/** -1 for what is no whole number below 2^53. Most of a log is such numbers: a loop is several times as fast as a pattern. */
function wholeNumber(text: string): number {
  if (text.length === 0 || text.length > 16) return -1;
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return Number.isSafeInteger(value) ? value : -1;
}
