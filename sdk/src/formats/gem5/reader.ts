/** Reads the O3PipeView lines of a gem5 debug log, plain or packed with gzip or zstd. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { type TextLine, textLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';
import { type FetchLine, PREFIX, parseLine, type StageLine } from './parse.js';
import { GEM5_STAGES, type Gem5Instruction } from './types.js';

interface Open {
  readonly fetch: FetchLine;
  readonly ticks: number[];
  readonly offset: number;
}

const RETIRE = GEM5_STAGES.length - 1;

export class Gem5Reader {
  private open: Open | null = null;
  private hasBegun = false;

  constructor(
    private readonly source: ByteSource,
    /** Called with how many bytes of the file have been read. */
    private readonly onRead?: (bytes: number) => void,
  ) {}

  /**
   * Instructions in file order, which is that of their ends, not of their times; in batches. Lines of other kinds are skipped, and what a log
   * begins with before its first fetch.
   * @throws UscopeError CONVERT_UNKNOWN (no line of O3PipeView), CONVERT_FORMAT, CONVERT_LIMIT, and CONVERT_TRUNCATED when the file ends inside
   *   an instruction, which is handed out before, or inside a line
   */
  async *batches(): AsyncGenerator<Gem5Instruction[]> {
    this.open = null;
    this.hasBegun = false;
    for await (const lines of this.lines()) {
      const batch: Gem5Instruction[] = [];
      let failure: unknown;
      try {
        for (const line of lines) this.take(line, batch);
      } catch (error) {
        failure = error;
      }
      if (failure !== undefined && this.isCut(failure)) batch.push(...this.rest());
      if (batch.length > 0) yield batch;
      if (failure !== undefined) throw failure;
    }
    yield* this.end();
  }

  private *end(): Generator<Gem5Instruction[]> {
    const { file, open } = { file: this.source.name, open: this.open };
    if (!this.hasBegun) {
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        `the file has no line "${PREFIX}fetch:…": it is no O3PipeView log`,
        { file },
      );
    }
    if (!open) return;
    yield this.rest();
    throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside an instruction', {
      file,
      offset: open.offset,
    });
  }

  private take(line: TextLine, batch: Gem5Instruction[]): void {
    const parsed = this.parse(line);
    if (!parsed) return;
    if ('pc' in parsed) {
      if (this.open) batch.push(instructionOf(this.open, 0, false, true));
      this.hasBegun = true;
      this.open = { fetch: parsed, ticks: [parsed.tick], offset: line.offset };
      return;
    }
    if (!this.open) {
      if (!this.hasBegun) return;
      throw new UscopeError('CONVERT_FORMAT', `a line of ${GEM5_STAGES[parsed.stage]} belongs to no fetch`, {
        file: this.source.name,
        offset: line.offset,
      });
    }
    if (!line.isWhole && parsed.tick > 0 && parsed.tick < this.open.fetch.tick) {
      throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a tick', {
        file: this.source.name,
        offset: line.offset,
      });
    }
    this.open.ticks[parsed.stage] = parsed.tick;
    if (parsed.stage !== RETIRE) return;
    batch.push(instructionOf(this.open, parsed.storeTick, true, true));
    this.open = null;
  }

  /** What is open, unfinished as it is. */
  private rest(): Gem5Instruction[] {
    const { open } = this;
    this.open = null;
    return open ? [instructionOf(open, 0, false, false)] : [];
  }

  private parse({ text, offset, isWhole }: TextLine): FetchLine | StageLine | null {
    try {
      return parseLine(text, offset);
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      const file = this.source.name;
      if (isWhole) throw error.at({ file });
      throw new UscopeError('CONVERT_TRUNCATED', `the file ends inside a line: ${error.detail}`, {
        file,
        offset,
      });
    }
  }

  private isCut(error: unknown): boolean {
    return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
  }

  private async *lines(): AsyncGenerator<TextLine[]> {
    try {
      yield* textLines(unpack(this.source, this.onRead));
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name }) : error;
    }
  }
}

function instructionOf(
  { fetch, ticks, offset }: Open,
  storeTick: number,
  isWhole: boolean,
  hasSuccessor: boolean,
): Gem5Instruction {
  const { seq, pc, microPc, disassembly } = fetch;
  const missing = GEM5_STAGES.findIndex((_, stage) => ticks[stage] === undefined);
  return {
    seq,
    pc,
    microPc,
    disassembly,
    ticks: GEM5_STAGES.map((_, stage) => ticks[stage] ?? 0),
    storeTick,
    isWhole,
    lacks: hasSuccessor && missing >= 0 ? missing : null,
    offset,
  };
}
