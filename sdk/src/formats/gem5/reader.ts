/** Reads an O3PipeView log, plain or packed with gzip or zstd. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { LF, type LinePiece, linePieces, lineText } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';
import { Gem5Block, RETIRE } from './block.js';
import { type FetchLine, objectOf, PREFIX, parseLine, type StageLine } from './parse.js';
import { QuickLines } from './quick-lines.js';
import { GEM5_STAGES, type Gem5Instruction } from './types.js';

/** What goes through a log in file order, without an object for each instruction. */
export interface Gem5Visitor {
  /** Whether the caller of `visit` is to come before the next instruction. */
  readonly isFull: boolean;
  /**
   * Of compiled code: takes instructions whose lines are in `bytes[from, end)`, until it is full. Returns where the first one begins that it left, or
   * another line.
   */
  readonly takeInstructions?: ((bytes: Uint8Array, from: number, end: number) => number) | undefined;
  /** An instruction with all that its lines say. @returns the block that the reader fills next: the same, or another one, if this one is kept */
  instruction(block: Gem5Block): Gem5Block;
  /** A line of another kind. */
  other(line: string): void;
  /** A line of a stage before the first fetch. */
  early(stage: number): void;
}

const encoder = new TextEncoder();

export class Gem5Reader {
  private open: Gem5Block | null = null;
  private block = new Gem5Block();
  private hasBegun = false;
  private readonly quick = new QuickLines();

  constructor(
    private readonly source: ByteSource,
    /** Called with how many bytes of the file have been read. */
    private readonly onRead?: (bytes: number) => void,
  ) {}

  /**
   * Visits instructions and other lines in file order, which is that of the ends of instructions. Yields after each piece of text, and when the
   * visitor is full.
   * @throws UscopeError CONVERT_UNKNOWN (no line of O3PipeView), CONVERT_FORMAT, CONVERT_LIMIT, and CONVERT_TRUNCATED when the file ends inside
   *   an instruction, which is visited before, or inside a line
   */
  async *visit(visitor: Gem5Visitor): AsyncGenerator<void> {
    this.open = null;
    this.hasBegun = false;
    try {
      for await (const piece of this.pieces()) {
        for (let at = 0; at < piece.end; ) {
          at = this.takeLines(piece, at, visitor);
          yield;
        }
      }
    } catch (error) {
      if (isUscopeError(error) && error.code === 'CONVERT_TRUNCATED') this.rest(visitor);
      throw error;
    }
    this.end(visitor);
  }

  /** Instructions in file order, in batches. @throws UscopeError as `visit` */
  async *batches(): AsyncGenerator<Gem5Instruction[]> {
    let batch: Gem5Instruction[] = [];
    const visitor: Gem5Visitor = {
      isFull: false,
      instruction: (block) => {
        batch.push(block.copy());
        return block;
      },
      other: () => undefined,
      early: () => undefined,
    };
    const taken = (): Gem5Instruction[] => {
      const whole = batch;
      batch = [];
      return whole;
    };
    let failure: unknown;
    try {
      for await (const _ of this.visit(visitor)) if (batch.length > 0) yield taken();
    } catch (error) {
      failure = error;
    }
    if (batch.length > 0) yield taken();
    if (failure !== undefined) throw failure;
  }

  /** Lines from `from` on until the visitor is full. Returns where the next one begins. */
  private takeLines({ bytes, end, offset, isWhole }: LinePiece, from: number, visitor: Gem5Visitor): number {
    const { quick } = this;
    let at = from;
    while (at < end) {
      if (isWhole && !this.open && visitor.takeInstructions) {
        const next = visitor.takeInstructions(bytes, at, end);
        if (next > at) this.hasBegun = true;
        at = next;
        if (at >= end || visitor.isFull) break;
      }
      if (isWhole && quick.take(bytes, at)) {
        if (quick.stage === 0) this.quickFetch(bytes, offset + at, visitor);
        else this.stage(quick.stage, quick.tick, quick.storeTick, '', offset + at, true, visitor);
        at = quick.next;
      } else {
        const to = isWhole ? bytes.indexOf(LF, at) : end;
        this.takeSlowly(lineText(bytes, at, to), offset + at, isWhole, visitor);
        at = to + 1;
      }
      if (visitor.isFull) break;
    }
    return at;
  }

  private quickFetch(bytes: Uint8Array, offset: number, visitor: Gem5Visitor): void {
    const { quick } = this;
    const block = this.fetch(quick.tick, '', offset, visitor);
    block.seq = quick.seq;
    block.pc = quick.pc;
    block.microPc = quick.microPc;
    block.setText(bytes, quick.textFrom, quick.textTo);
  }

  private takeSlowly(text: string, offset: number, isWhole: boolean, visitor: Gem5Visitor): void {
    const parsed = this.parse(text, offset, isWhole);
    if (!parsed) {
      visitor.other(text);
      return;
    }
    const object = objectOf(text);
    if (!('pc' in parsed)) {
      this.stage(parsed.stage, parsed.tick, parsed.storeTick, object, offset, isWhole, visitor);
      return;
    }
    const block = this.fetch(parsed.tick, object, offset, visitor);
    block.seq = narrow(parsed.seq);
    block.pc = narrow(parsed.pc);
    block.microPc = parsed.microPc;
    const disassembly = encoder.encode(parsed.disassembly);
    block.setText(disassembly, 0, disassembly.length);
  }

  private fetch(tick: number, object: string, offset: number, visitor: Gem5Visitor): Gem5Block {
    if (this.open) this.block = visitor.instruction(this.open);
    this.hasBegun = true;
    this.open = this.block;
    this.open.begin(tick, offset);
    this.open.object = object;
    return this.open;
  }

  private stage(
    stage: number,
    tick: number,
    storeTick: number,
    object: string,
    offset: number,
    isWhole: boolean,
    visitor: Gem5Visitor,
  ): void {
    const { open } = this;
    if (!open || open.object !== object) {
      if (!this.hasBegun) {
        visitor.early(stage);
        return;
      }
      throw new UscopeError('CONVERT_FORMAT', `a line of ${GEM5_STAGES[stage]} belongs to no fetch`, {
        file: this.source.name,
        offset,
      });
    }
    if (!isWhole && tick > 0 && tick < open.ticks[0]) {
      throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a tick', {
        file: this.source.name,
        offset,
      });
    }
    open.ticks[stage] = tick;
    if (stage !== RETIRE) return;
    open.storeTick = storeTick;
    open.isWhole = true;
    this.open = null;
    this.block = visitor.instruction(open);
  }

  private end(visitor: Gem5Visitor): void {
    const { file, open } = { file: this.source.name, open: this.open };
    if (!this.hasBegun) {
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        `the file has no line "${PREFIX}fetch:…": it is no O3PipeView log`,
        { file },
      );
    }
    if (!open) return;
    this.rest(visitor);
    throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside an instruction', {
      file,
      offset: open.offset,
    });
  }

  /** What is open, unfinished as it is. */
  private rest(visitor: Gem5Visitor): void {
    const { open } = this;
    this.open = null;
    if (!open) return;
    open.hasSuccessor = false;
    this.block = visitor.instruction(open);
  }

  private parse(text: string, offset: number, isWhole: boolean): FetchLine | StageLine | null {
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

  private async *pieces(): AsyncGenerator<LinePiece> {
    try {
      yield* linePieces(unpack(this.source, this.onRead));
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name }) : error;
    }
  }
}

function narrow(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
