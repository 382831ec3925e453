/** Compares two runs as far as they are read, and hands on what it finds in pieces. */
import { type CpuCore, disassemble } from 'uscope/cpu';
import { Aligner, type AlignSink } from './aligner.js';
import { Costs, type Side, type SideCost } from './costs.js';
import { emptyColumns, type PairColumns } from './pairs.js';
import type { CompareTotals, CostLine, Difference, FunctionCost, Line } from './protocol.js';
import { RetiredQueue } from './retired-queue.js';
import { StaticInstructions } from './static-instructions.js';

/** Pairs in one message. */
const PIECE = 1 << 13;
/** Instructions of a difference that are listed. */
const LISTED = 12;

interface ComparisonSink {
  pairs(columns: PairColumns, count: number): void;
  difference(difference: Difference): void;
}

export class Comparison implements AlignSink {
  readonly statics = new StaticInstructions();
  readonly a = new RetiredQueue();
  readonly b = new RetiredQueue();
  readonly costs = new Costs();
  private readonly aligner = new Aligner(this.a, this.b, this.statics.same, this);
  private piece = emptyColumns(PIECE);
  private pieceCount = 0;
  private same = 0;
  private differences = 0;

  constructor(
    private readonly core: Pick<CpuCore, 'xlen'>,
    private readonly sink: ComparisonSink,
  ) {}

  /** Decides what can be decided with what is read. @returns everything is compared */
  run(): boolean {
    const isDone = this.aligner.run();
    if (isDone) this.flush();
    return isDone;
  }

  totals(): CompareTotals {
    const { a, b, same, differences } = this;
    return { retiredA: a.taken, retiredB: b.taken, same, differences };
  }

  /** Those that cost most more or less in B than in A. */
  costLines(limit: number): CostLine[] {
    const { costs, statics } = this;
    return costs.largest(statics.count, limit).map(({ instruction, a, b }) => ({
      ...this.line(instruction),
      a,
      b,
    }));
  }

  /** What each function costs; those whose cycles differ most first. What is in no function has an empty name. */
  functionCosts(functionOf: (pc: bigint) => string | null): FunctionCost[] {
    const { costs, statics } = this;
    const sums = new Map<string, FunctionCost>();
    for (let instruction = 0; instruction < statics.count; instruction++) {
      const { pc } = statics.at(instruction);
      const name = (pc === null ? null : functionOf(pc)) ?? '';
      const { a, b } = costs.of(instruction);
      const before = sums.get(name);
      sums.set(name, { name, a: sumOf(before?.a, a), b: sumOf(before?.b, b) });
    }
    const change = ({ a, b }: FunctionCost): number => Math.abs(b.cycles - a.cycles);
    return [...sums.values()].sort((x, y) => change(y) - change(x));
  }

  pair(): void {
    const { a, b, piece, pieceCount: at } = this;
    piece.retiredA[at] = a.taken;
    piece.retiredB[at] = b.taken;
    piece.rowA[at] = a.rowAt(0);
    piece.rowB[at] = b.rowAt(0);
    piece.cycleA[at] = a.cycleAt(0);
    piece.cycleB[at] = b.cycleAt(0);
    this.charge('a', a, 1);
    this.charge('b', b, 1);
    this.same++;
    if (++this.pieceCount === PIECE) this.flush();
  }

  difference(a: number, b: number): void {
    this.differ(a, b, false);
    this.charge('a', this.a, a);
    this.charge('b', this.b, b);
  }

  apart(): void {
    this.differ(this.a.length, this.b.length, true);
  }

  rest(side: Side, count: number): void {
    this.charge(side, this[side], count);
  }

  private differ(countA: number, countB: number, isLast: boolean): void {
    const { a, b } = this;
    this.differences++;
    const place = (queue: RetiredQueue) =>
      queue.length > 0 ? { row: queue.rowAt(0), cycle: queue.cycleAt(0) } : { row: -1, cycle: -1 };
    const [inA, inB] = [place(a), place(b)];
    this.sink.difference({
      a: countA,
      b: countB,
      retiredA: a.taken,
      retiredB: b.taken,
      rowA: inA.row,
      rowB: inB.row,
      cycleA: inA.cycle,
      cycleB: inB.cycle,
      linesA: this.lines(a, countA),
      linesB: this.lines(b, countB),
      isLast,
    });
  }

  private lines(queue: RetiredQueue, count: number): Line[] {
    return Array.from({ length: Math.min(count, LISTED, queue.length) }, (_, at) =>
      this.line(queue.staticAt(at)),
    );
  }

  private line(instruction: number): Line {
    const { pc, bits } = this.statics.at(instruction);
    const { xlen } = this.core;
    const isCode = xlen !== null && bits !== null && bits !== 0;
    return {
      pc: pc === null ? '' : pc.toString(16).padStart(xlen === 64 ? 16 : 8, '0'),
      text: isCode ? disassemble(bits, { xlen, pc: pc ?? undefined }) : this.statics.nameOf(instruction),
    };
  }

  private charge(side: Side, queue: RetiredQueue, count: number): void {
    for (let at = 0; at < count; at++) this.costs.add(side, queue.staticAt(at), queue.cycleAt(at));
  }

  private flush(): void {
    if (this.pieceCount === 0) return;
    this.sink.pairs(this.piece, this.pieceCount);
    this.piece = emptyColumns(PIECE);
    this.pieceCount = 0;
  }
}

const sumOf = (one: SideCost | undefined, other: SideCost): SideCost => ({
  count: (one?.count ?? 0) + other.count,
  cycles: (one?.cycles ?? 0) + other.cycles,
});
