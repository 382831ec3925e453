/** A text log of an instruction set simulator as a foreign trace: what Spike's and QEMU's have in common. */

import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import { MaybeCut } from '../common/cut.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignTrace,
  FormatOption,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import type { TextBytes } from '../text/columns.js';
import { linePieces, UNKNOWN_OPTION, type UnknownLines } from '../text/lines.js';
import { unpack } from '../text/unpack.js';
import { type Interrupt, join64, type RetiredShape, type RetiredSink, type Says, UNKNOWN } from './sink.js';
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

export class RetiredLog extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'instructions';
  readonly description: string;
  private summary: Summary | null = null;

  constructor(
    private readonly source: Source,
    private readonly options: ReadonlyMap<string, string>,
    private readonly kind: RetiredKind,
  ) {
    super();
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

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    await this.summarize();
    const records = new RetiredRecords();
    for await (const _ of this.pieces(this.kind.makeParser(records), () => records.all.length > 0)) {
      for (const record of records.all.splice(0)) {
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
      this.noteCut(error, context);
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

/** What a trace's shape depends on: counts the instructions of a log. */
export class RetiredCensus implements RetiredSink {
  instructions = 0;
  traps = 0;
  private readonly met = new Set<number>();
  private last = -1;

  /** Numbers of the harts, rising. */
  get harts(): number[] {
    return [...this.met].sort((a, b) => a - b);
  }

  begin(hart: number): void {
    this.instructions++;
    if (hart === this.last) return;
    this.last = hart;
    this.met.add(hart);
  }

  trap(hart: number): void {
    this.begin(hart);
    this.traps++;
  }

  interrupt(): void {}
  register(): void {}
  csr(): void {}
  store(): void {}
  load(): void {}
  note(): void {}
}

/** The instructions of a log as objects, for listings and tests. */
export interface RetiredRecord {
  readonly hart: number;
  readonly pc: bigint;
  /** Null: the log does not say. */
  readonly bits: number | null;
  readonly text: string | null;
  readonly privilege: number | null;
  readonly registers: { readonly file: 'x' | 'f'; readonly index: number; readonly value: bigint }[];
  readonly csrs: { readonly number: number; readonly name: string; readonly value: bigint }[];
  readonly stores: { readonly address: bigint; readonly bytes: number; readonly value: bigint }[];
  readonly loads: bigint[];
  readonly notes: string[];
  readonly trap: { readonly cause: bigint; readonly value: bigint } | null;
  interrupt: Interrupt | null;
}

export class RetiredRecords implements RetiredSink {
  all: RetiredRecord[] = [];
  private last!: RetiredRecord;

  begin(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    privilege = UNKNOWN,
    trap: RetiredRecord['trap'] = null,
  ): void {
    this.last = {
      ...{ hart, pc: join64(pcLow, pcHigh), bits: bits === UNKNOWN ? null : bits, text },
      ...{ privilege: privilege === UNKNOWN ? null : privilege, trap, interrupt: null },
      ...{ registers: [], csrs: [], stores: [], loads: [], notes: [] },
    };
    this.all.push(this.last);
  }

  trap(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    cause: bigint,
    value: bigint,
  ): void {
    this.begin(hart, pcLow, pcHigh, bits, text, UNKNOWN, { cause, value });
  }

  interrupt(interrupt: Interrupt): void {
    this.last.interrupt = interrupt;
  }

  register(isFloat: boolean, index: number, low: number, high: number): void {
    this.last.registers.push({ file: isFloat ? 'f' : 'x', index, value: join64(low, high) });
  }

  csr(number: number, name: TextBytes, low: number, high: number): void {
    this.last.csrs.push({ number, name: String(name), value: join64(low, high) });
  }

  store(addressLow: number, addressHigh: number, bytes: number, low: number, high: number): void {
    this.last.stores.push({ address: join64(addressLow, addressHigh), bytes, value: join64(low, high) });
  }

  load(addressLow: number, addressHigh: number): void {
    this.last.loads.push(join64(addressLow, addressHigh));
  }

  note(text: string): void {
    this.last.notes.push(text);
  }
}
