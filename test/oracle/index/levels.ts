/** The levels of a directory, made plainly: the reference of sdk/kernel/index/directory.c, and what is used where that does not work. */
import { isUscopeError } from '../../../sdk/src/base/errors.js';
import { IndexPart, type IndexPartBytes } from '../../../sdk/src/format/index-container.js';
import { BUCKET_CYCLES, ChannelKind, type ClockGroup } from '../../../sdk/src/trace-index/channels.js';
import type { LevelRow, RowSource } from '../../../sdk/src/trace-index/levels/coarsener.js';
import { LevelChain } from '../../../sdk/src/trace-index/levels/level-chain.js';
import {
  bucketCyclesOf,
  chunkRows,
  encodeLevelChunk,
} from '../../../sdk/src/trace-index/levels/level-chunk.js';
import {
  type LevelInput,
  type LevelMaker,
  MAX_CYCLES,
} from '../../../sdk/src/trace-index/made-levels/level-maker.js';
import { LevelPieces } from '../../../sdk/src/trace-index/made-levels/level-pieces.js';
import type { IndexPlan } from '../../../sdk/src/trace-index/plan.js';
import { RowLevelBuilder } from '../../../sdk/src/trace-index/rows/row-levels.js';
import { decodeRowsPart, type RowsPart } from '../../../sdk/src/trace-index/rows/rows-part.js';
import { decodeTimePart, type TimePart } from '../../../sdk/src/trace-index/time-part.js';
import { type SetKind, STATIC_SETS, STRING_SETS, UnionBuilder } from './unions.js';

/** Buckets of a part TIME have 256 · 4^n cycles, n at most this. */
const MAX_PART_LEVEL = 1;

type Parts = readonly IndexPartBytes[] | null;

export class OracleLevels implements LevelMaker {
  private readonly times: readonly TimeMaker[];
  private readonly rows: readonly (RowMaker | null)[];
  private readonly sets: readonly SetMaker<unknown>[];
  private segments = 0;

  constructor(private readonly input: LevelInput) {
    const { groups, cores } = input.plan;
    this.times = groups.map((group) => new TimeMaker(group, input));
    this.rows = cores.map(({ rows, group }) => (rows && group >= 0 ? new RowMaker(rows.stages) : null));
    const statics = cores.map((_, core) => new SetMaker(STATIC_SETS, IndexPart.PCS, core));
    this.sets = [...statics, new SetMaker(STRING_SETS, IndexPart.STRINGS, 0)] as SetMaker<unknown>[];
  }

  add(parts: Parts): readonly (number | null)[] {
    const { plan } = this.input;
    const times = this.times.map((maker) => maker.add(parts));
    const rows = this.rows.map((maker, core) => maker?.decode(parts, core) ?? null);
    const births = plan.cores.map((_, core) => birthsIn(plan, core, times, rows[core]!));
    this.rows.forEach((maker, core) => {
      maker?.add(rows[core]!, this.segments, births[core]!);
    });
    for (const maker of this.sets) maker.add(parts);
    this.segments++;
    return births;
  }

  finish(): readonly LevelPieces[] {
    const rows = this.rows.map((maker) => maker?.finish() ?? new LevelPieces());
    const sets = this.sets.map((maker) => maker.finish());
    return [...this.times.map((maker) => maker.finish()), ...rows, ...sets];
  }
}

/** Instructions of a core that were born in a segment: by its time, else by its rows; null: not known. */
function birthsIn(
  { groups, cores }: IndexPlan,
  index: number,
  times: readonly (TimePart | null)[],
  rows: RowsPart | null,
): number | null {
  const { core, group } = cores[index]!;
  const channel = groups[group]?.channels.find(
    ({ kind, subject }) => kind === ChannelKind.BORN && subject === core.entities?.def.storageId,
  );
  if (!channel) return 0;
  const time = times[group];
  if (time) return time.columns[channel.column]!.reduce((sum, count) => sum + count, 0);
  return rows?.births ?? null;
}

class TimeMaker {
  private readonly pieces = new LevelPieces();
  private readonly pending: LevelRow[][] = [];
  private readonly chain: LevelChain;
  private knownPs: bigint;
  private missingFromPs: bigint | null = null;
  private hasAny = false;
  private readonly isCounted: boolean;

  constructor(
    private readonly group: ClockGroup,
    private readonly input: LevelInput,
  ) {
    this.knownPs = input.startPs;
    this.isCounted = input.endPs / BigInt(group.periodPs) <= MAX_CYCLES;
    this.chain = new LevelChain(group, (level, row) => this.keep(level, row));
  }

  add(parts: Parts): TimePart | null {
    const { group } = this;
    const part = decodedPart(parts, IndexPart.TIME, group.index, (bytes) => timePart(bytes, group));
    if (!part) {
      this.missingFromPs ??= this.knownPs;
      return null;
    }
    this.knownPs = part.toPs;
    this.hasAny = true;
    if (!this.isCounted) return part;
    this.endHole(part.fromPs);
    this.chain.add(part);
    return part;
  }

  finish(): LevelPieces {
    if (this.hasAny && this.isCounted) {
      this.endHole(this.input.endPs);
      this.chain.finish();
      for (const level of this.pending.keys()) this.put(level);
    }
    return this.pieces;
  }

  /** What is missing ends here: rows of zeros keep its place. */
  private endHole(toPs: bigint): void {
    if (this.missingFromPs === null) return;
    const bucketPs = BigInt(this.group.periodPs) * BigInt(BUCKET_CYCLES);
    const from = Number(this.missingFromPs / bucketPs);
    this.chain.add(zeroRows(this.group, from, Math.max(from, Number(toPs / bucketPs))));
    this.missingFromPs = null;
  }

  private keep(level: number, row: LevelRow): void {
    this.pending[level] ??= [];
    if (this.pending[level]!.length === chunkRows(this.group)) this.put(level);
    this.pending[level]!.push(row);
  }

  private put(level: number): void {
    const rows = this.pending[level]?.splice(0) ?? [];
    const last = rows.at(-1);
    if (!last) return;
    const bytes = encodeLevelChunk(this.group, level, rows);
    this.pieces.add({
      level,
      first: rows[0]!.bucket,
      end: last.bucket + last.span,
      rows: rows.length,
      bytes,
    });
  }
}

/** The part after the hole begins in the last bucket, which is a row for that reason: what comes later adds to it. */
function zeroRows({ columns }: ClockGroup, from: number, to: number): RowSource {
  const spans = to > from ? Float64Array.of(to - from, 1) : Float64Array.of(1);
  return {
    firstBucket: from,
    bucketCycles: BUCKET_CYCLES,
    rows: spans.length,
    spans,
    columns: Array.from({ length: columns }, () => new Float64Array(spans.length)),
    unitPs: 1,
    lacks: true,
  };
}

/** null: its buckets are those of a coarser level. */
function timePart(bytes: Uint8Array, group: ClockGroup): TimePart | null {
  const part = decodeTimePart(bytes, group);
  return part.bucketCycles <= bucketCyclesOf(MAX_PART_LEVEL) ? part : null;
}

class RowMaker {
  private readonly pieces = new LevelPieces();
  private readonly builder: RowLevelBuilder;
  private isKnown = true;

  constructor(private readonly stages: number) {
    this.builder = new RowLevelBuilder(stages, ({ level, firstRow, endRow, groups, bytes }) => {
      this.pieces.add({ level, first: firstRow, end: endRow, rows: groups, bytes });
    });
  }

  decode(parts: Parts, core: number): RowsPart | null {
    return decodedPart(parts, IndexPart.ROWS, core, (bytes) => decodeRowsPart(bytes, this.stages));
  }

  add(part: RowsPart | null, segment: number, births: number | null): void {
    // Rows cannot be numbered after an unknown number of them.
    this.isKnown &&= part !== null || births !== null;
    if (this.isKnown) this.builder.add(part, segment, births ?? 0);
  }

  finish(): LevelPieces {
    this.builder.finish();
    if (!this.isKnown) this.pieces.clear();
    return this.pieces;
  }
}

class SetMaker<T> {
  private readonly pieces = new LevelPieces();
  private readonly builder: UnionBuilder<T>;

  constructor(
    private readonly set: SetKind<T>,
    private readonly kind: number,
    private readonly subject: number,
  ) {
    this.builder = new UnionBuilder(set, ({ level, firstSegment, bytes }) => {
      this.pieces.add({ level, first: firstSegment, end: firstSegment + 1, rows: 0, bytes });
    });
  }

  add(parts: Parts): void {
    this.builder.add(decodedPart(parts, this.kind, this.subject, (bytes) => this.set.decode(bytes)));
  }

  finish(): LevelPieces {
    this.builder.finish();
    return this.pieces;
  }
}

/** null: there is none, or it is malformed. */
function decodedPart<T>(
  parts: Parts,
  kind: number,
  subject: number,
  decode: (bytes: Uint8Array) => T | null,
): T | null {
  const found = parts?.find((part) => part.kind === kind && part.subject === subject);
  if (!found) return null;
  try {
    return decode(found.bytes);
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}
