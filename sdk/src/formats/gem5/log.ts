/**
 * gem5's O3PipeView: seven lines per instruction, written when it has retired or was squashed, times in ticks (1 ps unless gem5 was told otherwise).
 * This is the grammar, read from the bytes of a log, and the reader.
 */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { batchesOf } from '../common/batches.js';
import { HexColumn, NumberColumn, startsWith } from '../text/columns.js';
import { CR, LF, type LinePiece, linePieces, lineText, UnknownLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';

export const GEM5_STAGES = ['fetch', 'decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'] as const;
export type Gem5Stage = (typeof GEM5_STAGES)[number];

export interface Gem5Instruction {
  readonly seq: bigint;
  readonly pc: bigint;
  /** Of the micro-operation within its instruction. */
  readonly microPc: number;
  readonly disassembly: string;
  /** Tick of each of GEM5_STAGES; 0: not reached. Without a tick of `retire` it was squashed. */
  readonly ticks: readonly number[];
  /** When a store had written; 0: it was none, or had not. */
  readonly storeTick: number;
  /** False: the log ends, or the next instruction begins, before its last line. */
  readonly isWhole: boolean;
  /** The first stage without a line, though more lines follow: gem5 prints all of them, so the log is damaged there. Null: none. */
  readonly lacks: number | null;
  /** Of its first line, in the unpacked text. */
  readonly offset: number;
}

export const STAGES = GEM5_STAGES.length;
export const RENAME_STAGE = GEM5_STAGES.indexOf('rename');
export const DISPATCH_STAGE = GEM5_STAGES.indexOf('dispatch');
export const RETIRE = STAGES - 1;
/** A stage without a line. */
const NO_LINE = -1;

const PREFIX = 'O3PipeView:';
const NAMES = GEM5_STAGES.map((name) => `${name}:`);
const STORE = ':store:';
const [TAB, BLANK, COLON] = [0x09, 0x20, 0x3a];
const MOST_HEX = 16;
const MOST_DIGITS = 20;
const MAX_U64 = (1n << 64n) - 1n;
/** Some builds print a tick, an object, or both before a line. */
const HEAD = /^\s*(?:\d+:\s*)?(?:([A-Za-z_][\w.]*):\s*)?$/;
/** A head is not longer. */
const MOST_HEAD = 256;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** What the log says of one instruction, in memory that is used again: the reader fills it, the passes look at it. */
export class Gem5Block {
  /** Above 2^53 - 1 a bigint. */
  seq: number | bigint = 0;
  pc: number | bigint = 0;
  microPc = 0;
  /** By stage; NO_LINE: there was no line of it. */
  readonly ticks = new Float64Array(STAGES);
  storeTick = 0;
  /** Of its first line, in the unpacked text. */
  offset = 0;
  isWhole = false;
  /** Another instruction follows, so that all its lines should be there. */
  hasSuccessor = false;
  /** The object that its lines begin with (`system.cpu1`); '': none. */
  object = '';
  /** The disassembly, in UTF-8. */
  text = new Uint8Array(64);
  textLength = 0;

  begin(tick: number, offset: number): void {
    this.ticks.fill(NO_LINE);
    this.ticks[0] = tick;
    this.storeTick = 0;
    this.offset = offset;
    this.isWhole = false;
    this.hasSuccessor = true;
  }

  setText(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (length > this.text.length) this.text = new Uint8Array(2 * length);
    const { text } = this;
    for (let i = 0; i < length; i++) text[i] = bytes[from + i];
    this.textLength = length;
  }

  /** Of a stage; 0: not reached, or no line. */
  tick(stage: number): number {
    return Math.max(0, this.ticks[stage]);
  }

  /** The first stage without a line though more lines follow; -1: none. */
  get lacks(): number {
    return this.hasSuccessor ? this.ticks.indexOf(NO_LINE) : -1;
  }

  get isSquashed(): boolean {
    return this.isWhole && this.ticks[RETIRE] <= 0;
  }

  /** As an object that keeps its values. */
  copy(): Gem5Instruction {
    const { lacks } = this;
    return {
      seq: BigInt(this.seq),
      pc: BigInt(this.pc),
      microPc: this.microPc,
      disassembly: decoder.decode(this.text.subarray(0, this.textLength)),
      ticks: Array.from(this.ticks, (tick) => Math.max(0, tick)),
      storeTick: this.storeTick,
      isWhole: this.isWhole,
      lacks: lacks < 0 ? null : lacks,
      offset: this.offset,
    };
  }
}

/** What a line is. */
const Kind = { FETCH: 0, STAGE: 1, OTHER: 2, WRONG: 3 } as const;
type Kind = (typeof Kind)[keyof typeof Kind];

/** One line, from its bytes, which end with a line feed. Blanks around numbers do not count. */
class Gem5Line {
  stage = 0;
  tick = 0;
  storeTick = 0;
  pc: number | bigint = 0;
  microPc = 0;
  seq: number | bigint = 0;
  object = '';
  /** Of the disassembly in the bytes. */
  textFrom = 0;
  textTo = 0;
  /** Start of the next line. */
  next = 0;
  /** Where the column ends that was read last. */
  private at = 0;
  private readonly digits = new NumberColumn();
  private readonly hex = new HexColumn();

  /** The line at `at`. What the fields hold means nothing for OTHER and WRONG, but for `next`. */
  take(bytes: Uint8Array, at: number): Kind {
    const from = this.bodyOf(bytes, at);
    if (from < 0) return Kind.OTHER;
    const stage = stageAt(bytes, from);
    const name = NAMES[stage];
    this.stage = stage;
    this.storeTick = 0;
    let kind: Kind = Kind.WRONG;
    if (startsWith(bytes, from, name) && this.number(bytes, from + name.length)) {
      this.tick = this.digits.value;
      if (stage === 0) kind = this.takeFetch(bytes) ? Kind.FETCH : Kind.WRONG;
      else kind = this.takeStore(bytes) ? Kind.STAGE : Kind.WRONG;
    }
    this.next = (bytes[this.at] === LF ? this.at : bytes.indexOf(LF, this.at)) + 1;
    return kind;
  }

  /** Where the stage is named, and the object is found; -1: another line. */
  private bodyOf(bytes: Uint8Array, at: number): number {
    this.object = '';
    this.at = at;
    if (startsWith(bytes, at, PREFIX)) return at + PREFIX.length;
    this.next = bytes.indexOf(LF, at) + 1;
    const body = prefixIn(bytes, at, Math.min(this.next, at + MOST_HEAD));
    const head = body < 0 ? null : HEAD.exec(decoder.decode(bytes.subarray(at, body)));
    if (!head) return -1;
    this.object = head[1] ?? '';
    return body + PREFIX.length;
  }

  /** After the tick: nothing, or of a retirement another one. */
  private takeStore(bytes: Uint8Array): boolean {
    if (this.stage === RETIRE && startsWith(bytes, this.at, STORE)) {
      if (!this.number(bytes, this.at + STORE.length)) return false;
      this.storeTick = this.digits.value;
    }
    return isEnd(bytes, this.at);
  }

  private takeFetch(bytes: Uint8Array): boolean {
    if (bytes[this.at] !== COLON || !this.takePc(bytes, this.at + 1)) return false;
    if (bytes[this.at] !== COLON || !this.number(bytes, this.at + 1)) return false;
    this.microPc = this.digits.value;
    if (bytes[this.at] !== COLON || !this.takeSequence(bytes, this.at + 1)) return false;
    if (bytes[this.at] !== COLON) return false;
    this.takeText(bytes, this.at + 1);
    return true;
  }

  private takePc(bytes: Uint8Array, from: number): boolean {
    const { hex } = this;
    if (!hex.takePrefixed(bytes, skipBlanks(bytes, from)) || hex.digits > MOST_HEX) return false;
    this.at = skipBlanks(bytes, hex.at);
    this.pc = hex.value;
    return true;
  }

  private takeSequence(bytes: Uint8Array, from: number): boolean {
    const isExact = this.number(bytes, from);
    this.seq = this.digits.value;
    const start = skipBlanks(bytes, from);
    const size = this.digits.at - start;
    if (isExact || size === 0 || size > MOST_DIGITS) return isExact;
    const wide = BigInt(ascii(bytes, start, this.digits.at));
    this.seq = narrow(wide);
    return wide <= MAX_U64;
  }

  private takeText(bytes: Uint8Array, from: number): void {
    const start = skipBlanks(bytes, from);
    let end = start;
    while (bytes[end] !== LF) end++;
    this.at = end;
    while (end > start && (bytes[end - 1] === BLANK || bytes[end - 1] === CR || bytes[end - 1] === TAB))
      end--;
    this.textFrom = start;
    this.textTo = end;
  }

  /** False: there is no number that is exact. */
  private number(bytes: Uint8Array, from: number): boolean {
    const { digits } = this;
    const isNumber = digits.take(bytes, skipBlanks(bytes, from));
    this.at = skipBlanks(bytes, digits.at);
    return isNumber;
  }
}

/** Which stage a word can be, by the letters in which they differ. */
function stageAt(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x66:
      return 0;
    case 0x64:
      return bytes[at + 1] === 0x65 ? 1 : DISPATCH_STAGE;
    case 0x69:
      return 4;
    case 0x63:
      return 5;
    default:
      return bytes[at + 2] === 0x6e ? RENAME_STAGE : RETIRE;
  }
}

/** Where the prefix begins; -1: nowhere. */
function prefixIn(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at + PREFIX.length <= to; at++)
    if (bytes[at] === 0x4f && startsWith(bytes, at, PREFIX)) return at;
  return -1;
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === BLANK || bytes[at] === TAB) at++;
  return at;
}

const isEnd = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF);

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  decoder.decode(bytes.subarray(from, to));

const narrow = (value: bigint): number | bigint =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** What goes through a log in file order, without an object for each instruction. */
export interface Gem5Visitor {
  /** Whether the caller of `visit` is to come before the next instruction. */
  readonly isFull: boolean;
  /** An instruction with all that its lines say. @returns the block that the reader fills next: the same, or another one, if this one is kept */
  instruction(block: Gem5Block): Gem5Block;
  /** A line of another kind. */
  other(line: string): void;
  /** A line of a stage before the first fetch. */
  early(stage: number): void;
}

export class Gem5Reader {
  /** Lines of O3PipeView of the last pass that are not understood, or belong to no fetch. */
  unknown = new UnknownLines();
  /** The other lines of O3PipeView of that pass. */
  understood = 0;
  private open: Gem5Block | null = null;
  private block = new Gem5Block();
  private hasBegun = false;
  private readonly line = new Gem5Line();

  constructor(
    private readonly source: ByteSource,
    /** Called with how many bytes of the file have been read. */
    private readonly onRead?: (bytes: number) => void,
  ) {}

  /**
   * Visits instructions and other lines in file order, which is that of the ends of instructions. Yields after each piece of text, and when the
   * visitor is full. A line of O3PipeView that is not understood is counted in `unknown`.
   * @throws UscopeError CONVERT_UNKNOWN (no line of O3PipeView), CONVERT_LIMIT, and CONVERT_TRUNCATED when the file ends inside an instruction,
   *   which is visited before, or inside a line
   */
  async *visit(visitor: Gem5Visitor): AsyncGenerator<void> {
    this.open = null;
    this.hasBegun = false;
    this.unknown = new UnknownLines();
    this.understood = 0;
    try {
      for await (const piece of this.pieces()) {
        for (let at = 0; at < piece.end; ) {
          at = piece.isWhole ? this.takeLines(piece, at, visitor) : this.takeLastLine(piece, visitor);
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
    const batch: Gem5Instruction[] = [];
    const visitor: Gem5Visitor = {
      isFull: false,
      instruction: (block) => {
        batch.push(block.copy());
        return block;
      },
      other: () => undefined,
      early: () => undefined,
    };
    yield* batchesOf(this.visit(visitor), batch);
  }

  /** Lines from `from` on until the visitor is full. Returns where the next one begins. */
  private takeLines({ bytes, end, offset }: LinePiece, from: number, visitor: Gem5Visitor): number {
    const { line } = this;
    let at = from;
    do {
      if (!this.takeLine(bytes, at, offset + at, visitor))
        this.unknown.note(bytes, at, line.next - 1, offset + at);
      at = line.next;
    } while (at < end && !visitor.isFull);
    return at;
  }

  /** False: it is not understood. */
  private takeLine(bytes: Uint8Array, at: number, offset: number, visitor: Gem5Visitor): boolean {
    const { line } = this;
    const kind = line.take(bytes, at);
    if (kind === Kind.OTHER) {
      visitor.other(lineText(bytes, at, line.next - 1));
      return true;
    }
    const isTaken =
      kind === Kind.FETCH ? this.fetch(bytes, offset, visitor) : kind === Kind.STAGE && this.stage(visitor);
    if (isTaken) this.understood++;
    return isTaken;
  }

  private fetch(bytes: Uint8Array, offset: number, visitor: Gem5Visitor): boolean {
    const { line } = this;
    if (this.open) this.block = visitor.instruction(this.open);
    this.hasBegun = true;
    const { block } = this;
    this.open = block;
    block.begin(line.tick, offset);
    block.object = line.object;
    block.seq = line.seq;
    block.pc = line.pc;
    block.microPc = line.microPc;
    block.setText(bytes, line.textFrom, line.textTo);
    return true;
  }

  /** False: it belongs to no fetch, or is from before it. */
  private stage(visitor: Gem5Visitor): boolean {
    const { open, line } = this;
    const { stage, tick } = line;
    if (!open || open.object !== line.object) {
      if (!this.hasBegun) visitor.early(stage);
      return !this.hasBegun;
    }
    if (tick > 0 && tick < open.ticks[0]) return false;
    open.ticks[stage] = tick;
    if (stage !== RETIRE) return true;
    open.storeTick = line.storeTick;
    open.isWhole = true;
    this.open = null;
    this.block = visitor.instruction(open);
    return true;
  }

  /** One without line feed, which may have been cut. */
  private takeLastLine({ bytes, end, offset }: LinePiece, visitor: Gem5Visitor): number {
    const ended = new Uint8Array(end + 1);
    ended.set(bytes.subarray(0, end));
    ended[end] = LF;
    if (this.takeLine(ended, 0, offset, visitor)) return end;
    const text = JSON.stringify(lineText(bytes, 0, end).slice(0, 40));
    throw new UscopeError('CONVERT_TRUNCATED', `the file ends inside a line: ${text}`, {
      file: this.source.name,
      offset,
    });
  }

  private end(visitor: Gem5Visitor): void {
    const { file, open } = { file: this.source.name, open: this.open };
    if (!this.hasBegun) {
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        `the file has no line "${PREFIX}fetch:…", with which a log of O3PipeView describes an instruction`,
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

  private async *pieces(): AsyncGenerator<LinePiece> {
    try {
      yield* linePieces(unpack(this.source, this.onRead));
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name }) : error;
    }
  }
}
