/** gem5's stats.txt: the values that it dumps, once or several times. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { textLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';

const BEGIN = /^-+ Begin Simulation Statistics -+\s*$/;
const END = /^-+ End Simulation Statistics\s+-+\s*$/;
/** Name and value; a share, a sum and the words about it may follow. */
const VALUE = /^([A-Za-z_][^\s]{0,200})\s+(-?\d[\d.eE+-]*|nan|inf|-nan|-inf)(\s|$)/;
/** Ticks since the begin of the simulation, in newer versions and in older ones. */
const TICKS: ReadonlySet<string> = new Set(['finalTick', 'final_tick']);
const WHOLE = /^\d{1,20}$/;
const MAX_U64 = (1n << 64n) - 1n;
/** What a trace has room for next to its cores. */
const MOST_NAMES = 60_000;

export interface StatsDump {
  readonly tick: number;
  /** Whole numbers by name. */
  readonly values: ReadonlyMap<string, bigint>;
}

export interface StatsFile {
  /** In the order of ticks. */
  readonly dumps: readonly StatsDump[];
  /** All that occur, in the order in which they were first met. */
  readonly names: readonly string[];
  /** Values that are no whole numbers, and lines that are none of the form. */
  readonly fractions: number;
  readonly otherLines: number;
}

/** @throws UscopeError CONVERT_UNKNOWN (no dump), CONVERT_FORMAT (a dump without a tick, or before the one before), CONVERT_LIMIT, CONVERT_TRUNCATED */
export async function readStats(source: ByteSource): Promise<StatsFile> {
  const file = new Reading();
  try {
    for await (const lines of textLines(unpack(source)))
      for (const { text, offset } of lines) file.take(text, offset);
    return file.end();
  } catch (error) {
    throw isUscopeError(error) ? error.at({ file: source.name }) : error;
  }
}

class Reading {
  private readonly dumps: StatsDump[] = [];
  private readonly names = new Set<string>();
  private fractions = 0;
  private otherLines = 0;
  private values: Map<string, bigint> | null = null;
  private tick: number | null = null;

  take(text: string, offset: number): void {
    if (BEGIN.test(text)) {
      if (this.values) throw wrong(offset, 'a dump begins inside another one');
      this.values = new Map();
      this.tick = null;
    } else if (END.test(text)) this.endDump(offset);
    else if (text.trim() !== '') this.value(text, offset);
  }

  end(): StatsFile {
    if (this.values) throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a dump of statistics');
    if (this.dumps.length === 0)
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        'the file has no "Begin Simulation Statistics": it is no stats.txt of gem5',
      );
    const { dumps, fractions, otherLines } = this;
    return { dumps, names: [...this.names], fractions, otherLines };
  }

  private value(text: string, offset: number): void {
    const match = this.values ? VALUE.exec(text) : null;
    if (!match || !this.values) {
      this.otherLines++;
      return;
    }
    const [, name, digits] = match;
    const value = WHOLE.test(digits) ? BigInt(digits) : null;
    if (value === null || value > MAX_U64) {
      this.fractions++;
      return;
    }
    if (TICKS.has(name)) this.tick = Number(value);
    this.names.add(name);
    if (this.names.size > MOST_NAMES)
      throw new UscopeError('CONVERT_LIMIT', `more than ${MOST_NAMES} statistics`, { offset });
    this.values.set(name, value);
  }

  private endDump(offset: number): void {
    if (!this.values) throw wrong(offset, 'a dump ends that did not begin');
    if (this.tick === null)
      throw wrong(offset, 'the dump has no finalTick, so it cannot be said when it was made');
    if (!Number.isSafeInteger(this.tick) || this.tick < (this.dumps.at(-1)?.tick ?? 0))
      throw wrong(offset, `finalTick ${this.tick} is before that of the dump before, or too large`);
    this.dumps.push({ tick: this.tick, values: this.values });
    this.values = null;
  }
}

function wrong(offset: number, detail: string): UscopeError {
  return new UscopeError('CONVERT_FORMAT', detail, { offset });
}
