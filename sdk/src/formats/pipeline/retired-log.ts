/** A text log of an instruction set simulator as a foreign trace: what Spike's and QEMU's have in common. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignTrace,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { type TextLine, textLines } from '../text/lines.js';
import { unpack } from '../text/unpack.js';
import { type RetiredRecord, RetiredTrace, type Says, startOption } from './retired-trace.js';

/** Takes lines, gives instructions. Made anew for every pass. */
export interface RetiredParser {
  /** @throws UscopeError CONVERT_FORMAT; the caller adds the place */
  take(line: string): void;
  /** The log is over: what waits for more lines is complete. */
  end(): void;
  /** Instructions that are complete; the caller empties it. */
  readonly records: RetiredRecord[];
  /** Lines that were not understood, and so not taken. */
  readonly foreign: number;
  readonly xlen: 32 | 64;
  /** What the log says of instructions, known after a pass: what it does not say is not compared. */
  readonly says: Says;
}

interface Summary {
  readonly harts: readonly number[];
  readonly xlen: 32 | 64;
  readonly instructions: number;
  readonly traps: number;
  readonly foreign: number;
  readonly says: Says;
}

export class RetiredLog implements ForeignTrace {
  readonly timeUnit = 'instructions';
  isPartial = false;
  private summary: Summary | null = null;

  constructor(
    private readonly source: Source,
    readonly description: string,
    private readonly name: string,
    private readonly makeParser: () => RetiredParser,
  ) {}

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const { harts, xlen, instructions, traps, foreign } = await this.summarize(context);
    const rows = [
      ['harts', harts.join(' ')],
      ['width of addresses', `${xlen} bits`],
      ['instructions', String(instructions)],
      ['of them trapped', String(traps)],
      ['other lines', String(foreign)],
    ] as const;
    return [{ title: 'instructions', rows }];
  }

  async *dump({ json, limit = Number.POSITIVE_INFINITY }: DumpOptions): AsyncGenerator<string> {
    let left = limit;
    for await (const batch of this.batches(this.makeParser())) {
      for (const record of batch) {
        if (left-- <= 0) return;
        yield json
          ? JSON.stringify(record, (_, v: unknown) => (typeof v === 'bigint' ? `0x${v.toString(16)}` : v))
          : lineOf(record);
      }
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const start = startOption(context.options);
    const summary = await this.summarize(context);
    const { report } = context;
    const trace = await RetiredTrace.create(target, { ...summary, name: this.name }, context);
    let hasStarted = start === null;
    try {
      const parser = this.makeParser();
      for await (const batch of this.batches(parser, context, 0.5)) {
        context.signal?.throwIfAborted();
        for (const record of batch) {
          hasStarted ||= record.pc === start;
          if (!hasStarted)
            report.dropped('instructions before the start', 'start=ADDRESS leaves them out').count++;
          else if (!trace.put(record)) await trace.ready();
        }
      }
      report.dropped(
        'other lines',
        'no lines of this log: output of the program, symbols, state that has no events',
      ).count += parser.foreign;
    } catch (error) {
      await trace.abandon();
      throw error;
    }
    if (!hasStarted)
      context.onWarning?.(
        `no instruction is at the address of start=${context.options.get('start')}: the trace is empty`,
      );
    return trace.close();
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  private async summarize(context?: ConversionContext): Promise<Summary> {
    if (this.summary) return this.summary;
    const parser = this.makeParser();
    const harts = new Set<number>();
    let [instructions, traps] = [0, 0];
    for await (const batch of this.batches(parser, context)) {
      instructions += batch.length;
      for (const { hart, trap } of batch) {
        harts.add(hart);
        if (trap) traps++;
      }
    }
    if (instructions === 0)
      throw new UscopeError('CONVERT_UNKNOWN', `the file has no instruction of ${this.description}`, {
        file: this.source.name,
      });
    const { xlen, foreign, says } = parser;
    this.summary = { harts: [...harts].sort((a, b) => a - b), xlen, instructions, traps, foreign, says };
    return this.summary;
  }

  /** Instructions as far as the file goes. @throws UscopeError CONVERT_FORMAT with the offset of the line */
  private async *batches(
    parser: RetiredParser,
    context?: ConversionContext,
    from = 0,
  ): AsyncGenerator<RetiredRecord[]> {
    const size = await this.source.size();
    const pieces = unpack(this.source, (bytes) => context?.onProgress?.(from + (0.5 * bytes) / size));
    try {
      for await (const lines of textLines(pieces)) {
        for (const line of lines) this.line(parser, line, context);
        if (parser.records.length > 0) yield parser.records.splice(0);
      }
    } catch (error) {
      if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
      this.isPartial = true;
      context?.onWarning?.(error.message);
    }
    parser.end();
    yield parser.records.splice(0);
  }

  private line(
    parser: RetiredParser,
    { text, offset, isWhole }: TextLine,
    context?: ConversionContext,
  ): void {
    if (!isWhole) {
      this.isPartial = true;
      context?.onWarning?.(`the file ends inside a line, at offset ${offset}; the line was left out`);
      return;
    }
    try {
      parser.take(text);
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name, offset }) : error;
    }
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
