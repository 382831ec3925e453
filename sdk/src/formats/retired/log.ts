/** A text log of an instruction set simulator as a foreign trace: what Spike's and QEMU's have in common. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignTrace,
  FormatOption,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { linePieces } from '../text/lines.js';
import { UNKNOWN_OPTION, type UnknownLines } from '../text/unknown-lines.js';
import { unpack } from '../text/unpack.js';
import { RetiredCensus } from './census.js';
import { type RetiredRecord, RetiredRecords } from './records.js';
import type { RetiredShape, RetiredSink, Says } from './sink.js';
import { ISA_OPTION, START_OPTION, writeRetired } from './trace.js';

export const RETIRED_OPTIONS: readonly FormatOption[] = [ISA_OPTION, START_OPTION, UNKNOWN_OPTION];

/** Repeated instructions that are given before the sink may push. */
const REPEATS_AT_ONCE = 1000;

/** Takes lines, gives instructions to a sink. Made anew for every pass. */
export interface RetiredParser {
  /**
   * Takes the line at `at`, and lines after it where they are known to be like others.
   * @param end of the last line, after its line feed
   * @param offset of `bytes` in the unpacked text
   * @returns where the next line begins
   */
  take(bytes: Uint8Array, at: number, end: number, offset: number): number;
  /** The log is over: what waits for more lines is complete. */
  end(): void;
  /** How often the last instruction is still to be repeated. */
  readonly repeats: number;
  repeat(times: number): void;
  /** Instructions that a limit left out. */
  readonly leftOut: number;
  /** What this pass learned changes what came before: another pass is right. */
  readonly isStale: boolean;
  readonly unknown: UnknownLines;
  /** Lines with data that were understood. */
  readonly understood: number;
  /** Other lines: output of the program, symbols. */
  readonly foreign: number;
  readonly xlen: 32 | 64;
  /** What the log says of instructions, known after a pass: what it does not say is not compared. */
  readonly says: Says;
  /** Why a log without an instruction may have none; null: no idea. */
  readonly missing: string | null;
  /** What was inferred, for the report. */
  tell(context: ConversionContext): void;
}

export interface RetiredKind {
  /** `spike`, `qemu`. */
  readonly name: string;
  readonly description: string;
  makeParser(sink: RetiredSink): RetiredParser;
}

interface Summary extends Omit<RetiredShape, 'name'> {
  readonly traps: number;
  readonly foreign: number;
  readonly unknown: UnknownLines;
}

export class RetiredLog implements ForeignTrace {
  readonly timeUnit = 'instructions';
  readonly description: string;
  isPartial = false;
  private summary: Summary | null = null;

  constructor(
    private readonly source: Source,
    private readonly options: ReadonlyMap<string, string>,
    private readonly kind: RetiredKind,
  ) {
    this.description = kind.description;
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const { harts, xlen, instructions, traps, foreign, unknown } = await this.summarize(context);
    const rows = [
      ['harts', harts.join(' ')],
      ['width of addresses', `${xlen} bits`],
      ['instructions', String(instructions)],
      ['of them trapped', String(traps)],
      unknown.info,
      ['other lines', String(foreign)],
    ] as const;
    return [{ title: 'instructions', rows }];
  }

  async *dump({ json, limit = Number.POSITIVE_INFINITY }: DumpOptions): AsyncGenerator<string> {
    await this.summarize();
    let left = limit;
    const records = new RetiredRecords();
    for await (const _ of this.pieces(this.kind.makeParser(records), () => records.all.length > 0)) {
      for (const record of records.all.splice(0)) {
        if (left-- <= 0) return;
        yield json
          ? JSON.stringify(record, (_key, v: unknown) => (typeof v === 'bigint' ? `0x${v.toString(16)}` : v))
          : lineOf(record);
      }
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const summary = await this.summarize(context);
    const shape = { ...summary, name: this.kind.name };
    return writeRetired(target, shape, context, async (trace) => {
      const parser = this.kind.makeParser(trace);
      for await (const _ of this.pieces(parser, () => trace.isFull, context, 0.5)) await trace.push();
      parser.tell(context);
      parser.unknown.tell(context);
      const { report, options, onWarning } = context;
      report.dropped('other lines', 'output of the program, symbols, state that has no events').count +=
        parser.foreign;
      report.dropped('repeats of one instruction', 'a log line stands for too many').count += parser.leftOut;
      if (!trace.isStarted)
        onWarning?.(`no instruction is at the address of start=${options.get('start')}: the trace is empty`);
    });
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  /** @throws UscopeError CONVERT_UNKNOWN without an instruction, CONVERT_FORMAT for too many lines that are not understood */
  private async summarize(context?: ConversionContext): Promise<Summary> {
    if (this.summary) return this.summary;
    let census: RetiredCensus;
    let parser: RetiredParser;
    do {
      census = new RetiredCensus();
      parser = this.kind.makeParser(census);
      for await (const _ of this.pieces(parser, () => false, context)) context?.signal?.throwIfAborted();
    } while (parser.isStale);
    const file = this.source.name;
    try {
      parser.unknown.check(parser.understood, this.options);
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file }) : error;
    }
    if (census.instructions === 0) {
      const why = parser.missing === null ? '' : `: ${parser.missing}`;
      throw new UscopeError('CONVERT_UNKNOWN', `the file has no instruction of ${this.description}${why}`, {
        file,
      });
    }
    const { harts, instructions, traps } = census;
    const { xlen, foreign, unknown, says } = parser;
    this.summary = { harts, instructions, traps, xlen, foreign, unknown, says };
    return this.summary;
  }

  /** As far as the file goes: comes back after each piece of it, and where the sink is full. */
  private async *pieces(
    parser: RetiredParser,
    isFull: () => boolean,
    context?: ConversionContext,
    from = 0,
  ): AsyncGenerator<void> {
    const size = await this.source.size();
    const bytesOf = unpack(this.source, (bytes) => context?.onProgress?.(from + (0.5 * bytes) / size));
    try {
      for await (const { bytes, end, offset, isWhole } of linePieces(bytesOf)) {
        if (!isWhole) {
          this.isPartial = true;
          context?.onWarning?.(`the file ends inside a line, at offset ${offset}; the line was left out`);
          break;
        }
        for (let at = 0; at < end; ) {
          at = parser.take(bytes, at, end, offset);
          while (parser.repeats > 0) {
            parser.repeat(REPEATS_AT_ONCE);
            if (isFull()) yield;
          }
          if (isFull()) yield;
        }
        yield;
      }
    } catch (error) {
      if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
      this.isPartial = true;
      context?.onWarning?.(error.message);
    }
    parser.end();
    yield;
  }
}

function lineOf({ hart, pc, bits, text, registers, stores, trap }: RetiredRecord): string {
  const code = bits === null ? '' : ` (0x${bits.toString(16)})`;
  const writes = registers
    .map(({ file, index, value }) => ` ${file}${index}=0x${value.toString(16)}`)
    .join('');
  const memory = stores
    .map(({ address, value }) => ` [0x${address.toString(16)}]=0x${value.toString(16)}`)
    .join('');
  const cause = trap ? ` trap ${trap.cause} 0x${trap.value.toString(16)}` : '';
  return `core${hart} 0x${pc.toString(16)}${code}${writes}${memory}${cause}${text === null ? '' : ` ${text}`}`;
}
