/** Reads Kanata logs, plain or packed with gzip or zstd, from front to end; and the first pass over a log: what its schema has to know. */

import { isUscopeError, UscopeError } from '../../base/errors.js';
import { batchesOf } from '../common/batches.js';
import { untilCut } from '../common/cut.js';
import { Roster } from '../pipeline/roster.js';
import type { TextBytes } from '../text/columns.js';
import { LF, type LinePiece, linePieces, lineText, UnknownLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';
import { checkHeader, KanataLines, type KanataRecord, type KanataVisitor } from './line.js';

/** How an instruction ends, with the numbers of Kanata's `R`. */
export const RetireType = { RETIRED: 0, FLUSHED: 1 } as const;

export interface PlacedRecord {
  readonly record: KanataRecord;
  /** Of its line, in the unpacked text. */
  readonly offset: number;
}

/** Lines between two looks at whether the visitor is full. */
const LOOK_EVERY = 64;

export class KanataReader {
  /** Lines of the last pass that are not understood. */
  unknown = new UnknownLines();
  /** The other lines of that pass. */
  understood = 0;
  private pieceOffset = 0;
  private lineAt = 0;
  private hasBegun = false;
  private readonly lines = new KanataLines();

  constructor(
    private readonly source: ByteSource,
    /** Called with how many bytes of the file have been read. */
    private readonly onRead?: (bytes: number) => void,
  ) {}

  /**
   * Visits the commands in file order; every call reads the file anew. Yields after each piece of text, and when the visitor is full. A line that is
   * not understood is counted in `unknown`. Memory is that of some 256 KiB of text.
   * @throws UscopeError CONVERT_UNKNOWN, CONVERT_UNSUPPORTED, CONVERT_LIMIT, CONVERT_TRUNCATED when the file ends inside a line that says
   *   nothing yet, or its packing ends early; and what the visitor throws, with the offset of the line. All commands before have been
   *   visited by then. A last line that makes sense without its line feed is taken.
   */
  async *visit(visitor: KanataVisitor): AsyncGenerator<void> {
    this.unknown = new UnknownLines();
    this.understood = 0;
    this.hasBegun = false;
    for await (const piece of this.pieces()) {
      for (let at = this.hasBegun ? 0 : this.takeHeader(piece); at < piece.end; ) {
        at = piece.isWhole ? this.takeLines(piece, at, visitor) : this.takeLastLine(piece, visitor);
        yield;
      }
    }
    if (!this.hasBegun)
      throw new UscopeError('CONVERT_TRUNCATED', 'the file is empty', { file: this.source.name, offset: 0 });
  }

  /** The records in batches, in file order. @throws UscopeError as `visit`, after all records before */
  async *batches(): AsyncGenerator<PlacedRecord[]> {
    const batch: PlacedRecord[] = [];
    const records = new RecordMaker((record) => batch.push({ record, offset: this.offset }));
    yield* batchesOf(this.visit(records), batch);
  }

  /** One by one. @throws UscopeError as `visit` */
  async *records(): AsyncGenerator<PlacedRecord> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** Of the line that is visited. */
  private get offset(): number {
    return this.pieceOffset + this.lineAt;
  }

  /** Lines from `from` on until the visitor is full. Returns where the next one begins. */
  private takeLines({ bytes, end, offset }: LinePiece, from: number, visitor: KanataVisitor): number {
    const { lines } = this;
    let at = from;
    this.pieceOffset = offset;
    try {
      while (at < end) {
        this.lineAt = at;
        if (lines.take(bytes, at, visitor)) this.understood++;
        else this.notUnderstood(bytes, at, visitor);
        at = lines.next;
        if (this.understood % LOOK_EVERY === 0 && visitor.isFull) break;
      }
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name, offset: offset + at }) : error;
    }
    return at;
  }

  private notUnderstood(bytes: Uint8Array, at: number, visitor: KanataVisitor): void {
    const text = lineText(bytes, at, this.lines.next - 1);
    this.unknown.note(bytes, at, this.lines.next - 1, this.offset);
    visitor.unknown?.(text);
  }

  /** One without line feed, which may have been cut. */
  private takeLastLine({ bytes, end, offset }: LinePiece, visitor: KanataVisitor): number {
    const ended = new Uint8Array(end + 1);
    ended.set(bytes.subarray(0, end));
    ended[end] = LF;
    this.pieceOffset = offset;
    this.lineAt = 0;
    try {
      if (!this.lines.take(ended, 0, visitor)) throw insideLine(lineText(bytes, 0, end));
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name, offset }) : error;
    }
    this.understood++;
    return end;
  }

  /** The first line with something in it. Returns where the next one begins. */
  private takeHeader({ bytes, end, offset, isWhole }: LinePiece): number {
    let [at, to] = [0, 0];
    for (; at < end && !this.hasBegun; at = to + 1) {
      to = isWhole ? bytes.indexOf(LF, at) : end;
      const line = lineText(bytes, at, to);
      if (line.trim() === '') continue;
      this.hasBegun = true;
      try {
        checkHeader(line);
      } catch (error) {
        const failure = isUscopeError(error) && !isWhole ? insideLine(line) : error;
        throw isUscopeError(failure) ? failure.at({ file: this.source.name, offset: offset + at }) : failure;
      }
    }
    return at;
  }

  private async *pieces(): AsyncGenerator<LinePiece> {
    try {
      yield* linePieces(unpack(this.source, this.onRead));
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name }) : error;
    }
  }
}

const insideLine = (line: string): UscopeError =>
  new UscopeError('CONVERT_TRUNCATED', `the file ends inside a line: ${JSON.stringify(line.slice(0, 40))}`);

/** Makes records of what is visited. */
class RecordMaker implements KanataVisitor {
  readonly isFull = false;

  constructor(private readonly add: (record: KanataRecord) => void) {}

  cycle(cycle: number | bigint): boolean {
    this.add({ kind: 'cycle', cycle: BigInt(cycle) });
    return true;
  }

  advance(cycles: number | bigint): void {
    this.add({ kind: 'advance', cycles: BigInt(cycles) });
  }

  begin(id: number, gid: number | bigint, tid: number): boolean {
    this.add({ kind: 'begin', id, gid: BigInt(gid), tid });
    return true;
  }

  label(id: number, type: number, text: TextBytes): void {
    this.add({ kind: 'label', id, type, text: String(text) });
  }

  start(id: number, lane: number, stage: string): void {
    this.add({ kind: 'start', id, lane, stage });
  }

  end(id: number, lane: number, stage: string): void {
    this.add({ kind: 'end', id, lane, stage });
  }

  retire(id: number, rid: number | bigint, type: number): void {
    this.add({ kind: 'retire', id, rid: BigInt(rid), type });
  }

  dependency(consumer: number, producer: number, type: number): void {
    this.add({ kind: 'dependency', consumer, producer, type });
  }

  unknown(text: string): void {
    this.add({ kind: 'unknown', text });
  }
}

const MAX_TIME_PS = (1n << 63n) - 1n;

/** Time in a log as it is read. Before the first command about an instruction any cycle may be set: that is where the log begins. */
export class KanataClock {
  cycle = 0;
  first: number | null = null;

  /** A command that is not about time. */
  begin(): void {
    this.first ??= this.cycle;
  }

  /** False: time would run backwards, so the command is not taken. @throws UscopeError CONVERT_LIMIT beyond 2^53 */
  set(cycle: number | bigint): boolean {
    if (this.first !== null && cycle < this.cycle) return false;
    this.cycle = exactCycle(Number(cycle));
    return true;
  }

  /** @throws UscopeError CONVERT_LIMIT beyond 2^53 */
  advance(cycles: number | bigint): void {
    this.cycle = exactCycle(this.cycle + Number(cycles));
  }

  /** @param zero cycle at time 0 @throws UscopeError CONVERT_LIMIT beyond the times of a trace */
  timePs(zero: number, periodPs: number): number | bigint {
    const cycles = this.cycle - zero;
    const product = cycles * periodPs;
    if (Number.isSafeInteger(product)) return product;
    const timePs = BigInt(cycles) * BigInt(periodPs);
    if (timePs <= MAX_TIME_PS) return timePs;
    throw beyondTimes(this.cycle);
  }
}

function exactCycle(cycle: number): number {
  if (Number.isSafeInteger(cycle)) return cycle;
  throw beyondTimes(cycle);
}

const beyondTimes = (cycle: number): UscopeError =>
  new UscopeError('CONVERT_LIMIT', `cycle ${cycle} lies beyond the times of a trace`);

export interface KanataSummary {
  readonly counts: {
    begin: number;
    retired: number;
    flushed: number;
    label: number;
    stage: number;
    end: number;
    dependency: number;
  };
  /** Of lane 0, in the order in which they first occur. */
  readonly stages: readonly string[];
  /** By the numbers of the other lanes that occur, rising: their stages. */
  readonly otherLanes: ReadonlyMap<number, readonly string[]>;
  readonly threads: readonly number[];
  /** First and last cycle; null in a log without a single record. */
  readonly firstCycle: number | null;
  readonly lastCycle: number;
  /** Instructions in flight at a time, those that end counted until the next cycle. */
  readonly maxInFlight: number;
  /** In flight at the end. */
  readonly unfinished: number;
  /** CONVERT_TRUNCATED when the file ended early; everything before it is counted. */
  readonly cut: UscopeError | null;
}

/** @throws UscopeError CONVERT_*, except CONVERT_TRUNCATED, which is part of the answer */
export async function summarize(reader: KanataReader, signal?: AbortSignal): Promise<KanataSummary> {
  const scan = new Scan();
  const cut = await untilCut(async () => {
    for await (const _ of reader.visit(scan)) signal?.throwIfAborted();
  });
  return { ...scan.summary(), cut };
}

class Scan implements KanataVisitor {
  readonly isFull = false;
  private readonly clock = new KanataClock();
  private readonly roster = new Roster<true>();
  private readonly stages = new Set<string>();
  /** By lane, all but lane 0. */
  private readonly lanes = new Map<number, Set<string>>();
  private readonly threads = new Set<number>();
  private readonly counts = { begin: 0, retired: 0, flushed: 0, label: 0, stage: 0, end: 0, dependency: 0 };
  private endedNow = 0;
  private maxInFlight = 0;

  cycle(cycle: number | bigint): boolean {
    if (cycle !== this.clock.cycle) this.endedNow = 0;
    return this.clock.set(cycle);
  }

  advance(cycles: number | bigint): void {
    if (cycles !== 0) this.endedNow = 0;
    this.clock.advance(cycles);
  }

  begin(id: number, _gid: number | bigint, tid: number): boolean {
    this.threads.add(tid);
    this.counts.begin++;
    this.meet(id, true);
    return true;
  }

  label(id: number): void {
    this.counts.label++;
    this.meet(id);
  }

  start(id: number, lane: number, stage: string): void {
    this.counts.stage++;
    if (lane === 0) this.stages.add(stage);
    else this.lane(lane).add(stage);
    this.meet(id);
  }

  end(id: number, lane: number): void {
    this.counts.end++;
    if (lane > 0) this.lane(lane);
    this.meet(id);
  }

  retire(id: number, _rid: number | bigint, type: number): void {
    this.meet(id);
    if (!this.roster.get(id)) return;
    this.roster.remove(id);
    this.endedNow++;
    if (type === RetireType.FLUSHED) this.counts.flushed++;
    else this.counts.retired++;
  }

  dependency(): void {
    this.counts.dependency++;
    this.clock.begin();
  }

  summary(): Omit<KanataSummary, 'cut'> {
    const { counts, clock, maxInFlight } = this;
    return {
      counts,
      stages: [...this.stages],
      otherLanes: new Map(
        [...this.lanes].sort(([a], [b]) => a - b).map(([lane, stages]) => [lane, [...stages]]),
      ),
      threads: [...this.threads].sort((a, b) => a - b),
      firstCycle: clock.first,
      lastCycle: clock.cycle,
      maxInFlight,
      unfinished: this.roster.size,
    };
  }

  private lane(lane: number): Set<string> {
    const known = this.lanes.get(lane) ?? new Set();
    this.lanes.set(lane, known);
    return known;
  }

  private meet(id: number, isBegin = false): void {
    this.clock.begin();
    if (this.roster.get(id) || !(isBegin || this.roster.isNew(id))) return;
    this.roster.add(id, true);
    this.maxInFlight = Math.max(this.maxInFlight, this.roster.size + this.endedNow);
  }
}
