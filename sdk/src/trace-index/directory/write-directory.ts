/**
 * Makes the directory of a trace that is being closed, from its containers: they are read one after the other, and each level from the one before it, so
 * that memory does not grow with the trace.
 */
import { ByteWriter } from '../../base/bytes.js';
import { isUscopeError } from '../../base/errors.js';
import type { Crc32 } from '../../format/commit-record.js';
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import { BUCKET_CYCLES, ChannelKind, type ClockGroup } from '../channels.js';
import { Coarsener, type LevelRow, type RowSource } from '../levels/coarsener.js';
import { bucketCyclesOf, chunkRows, encodeLevelChunk, FAN_OUT, MAX_LEVEL } from '../levels/level-chunk.js';
import type { IndexPlan } from '../plan.js';
import { decodeTimePart, type TimePart } from '../time-part.js';
import {
  BLOCK_ENTRIES,
  type ChunkEntry,
  encodeHead,
  encodePlace,
  type LevelEntry,
  type SegmentPlace,
} from './format.js';
import { writeRowsAndSets } from './write-rows.js';

/** A level of more chunks is not written: their entries are held in memory. */
const MAX_CHUNKS = 1 << 16;

/** Of a later end the levels' buckets could not be counted exactly: nine years of a clock of 1 GHz. */
const MAX_CYCLES = 1n << 58n;

/** A container as it is in the file. */
export interface PlacedContainer {
  /** From the start of the file that it is in. */
  readonly offset: number;
  readonly size: number;
  readonly parts: readonly IndexPartBytes[];
}

export interface DirectoryInput {
  readonly plan: IndexPlan;
  readonly segments: number;
  /** Start of the first segment, end of the last one. */
  readonly startPs: bigint;
  readonly endPs: bigint;
  /** null: the segment has none that can be used. Segments are asked for in order, several times each. */
  container(segment: number): Promise<PlacedContainer | null>;
  /** What the levels may take beside containers of so many bytes; the finest are left out before they take more. */
  maxBytes(containers: number): number;
  /** The finest level of each group; default: as `maxBytes` allows. */
  readonly finest?: readonly number[] | undefined;
  readonly crc32: Crc32;
}

/** The end of the file, as the directory is appended to it. */
export interface DirectoryOutput {
  /** File offset of the next byte. */
  readonly position: number;
  append(bytes: Uint8Array): Promise<void>;
  /** What was appended can be read. */
  flush(): Promise<void>;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Appends the directory. @throws UscopeError WRITER_* from `output` */
export async function writeDirectory(input: DirectoryInput, output: DirectoryOutput): Promise<void> {
  await new DirectoryWriter(input, output).write();
}

class DirectoryWriter {
  private readonly start: number;

  constructor(
    private readonly input: DirectoryInput,
    private readonly output: DirectoryOutput,
  ) {
    this.start = output.position;
  }

  async write(): Promise<void> {
    const { plan, segments, startPs, crc32 } = this.input;
    const survey = await this.survey();
    const share = this.input.maxBytes(survey.bytes) / Math.max(1, plan.groups.length);
    const levels: LevelEntry[][] = [];
    for (const group of plan.groups) {
      const { timeBytes } = survey.groups[group.index]!;
      const finest = this.input.finest?.[group.index] ?? finestWithin(timeBytes, share);
      const isCounted = timeBytes > 0 && this.input.endPs / BigInt(group.periodPs) <= MAX_CYCLES;
      levels.push(isCounted ? await this.groupLevels(group, finest, survey.holes(group)) : []);
    }
    const left = this.input.maxBytes(survey.bytes) - (this.output.position - this.start);
    const births = (core: number, segment: number) => survey.birthsIn(core, segment);
    const { rows, sets } = await writeRowsAndSets(this.input, this.output, this.start, births, left);
    const blocksOffset = this.output.position - this.start;
    const blockCrcs = await this.blocks(survey);
    const cores = plan.cores.length;
    const head = { planCrc: plan.crc, segments, cores, startPs, blocksOffset, blockCrcs, levels, rows, sets };
    await this.output.append(encodeHead(head, crc32));
  }

  /** Where the containers are, the births in each, and how large the TIME parts are together. */
  private async survey(): Promise<Survey> {
    const { segments } = this.input;
    const survey = new Survey(this.input);
    for (let segment = 0; segment < segments; segment++) {
      const container = await this.input.container(segment);
      survey.add(segment, container);
    }
    survey.finish();
    return survey;
  }

  private async groupLevels(
    group: ClockGroup,
    finest: number,
    holes: readonly Hole[],
  ): Promise<LevelEntry[]> {
    const levels: LevelEntry[] = [];
    let entry = await this.level(group, finest, this.segmentParts(group, holes), holes);
    for (;;) {
      if (entry.chunks.length <= MAX_CHUNKS) levels.push(entry);
      const isTop = entry.chunks.length <= 1 && entry.rows <= FAN_OUT;
      if (isTop || entry.level >= MAX_LEVEL) return levels;
      await this.output.flush();
      entry = await this.level(group, entry.level + 1, this.chunkParts(group, entry), holes);
    }
  }

  private async *segmentParts(group: ClockGroup, holes: readonly Hole[]): AsyncGenerator<RowSource> {
    let hole = 0;
    let isMissing = false;
    for (let segment = 0; segment < this.input.segments; segment++) {
      const part = timePartOf(await this.input.container(segment), group);
      if (part) yield part;
      else if (!isMissing) yield emptyRows(group, holes[hole++]!);
      isMissing = part === null;
    }
  }

  private async *chunkParts(group: ClockGroup, { chunks }: LevelEntry): AsyncGenerator<RowSource> {
    for (const { offset, size } of chunks) {
      yield decodeTimePart(await this.output.read(this.start + offset, size), group);
    }
  }

  private async level(
    group: ClockGroup,
    level: number,
    parts: AsyncIterable<RowSource>,
    holes: readonly Hole[],
  ): Promise<LevelEntry & { readonly rows: number }> {
    const chunks: ChunkEntry[] = [];
    let rows: LevelRow[] = [];
    let count = 0;
    const most = chunkRows(group);
    const coarsener = new Coarsener(group, bucketCyclesOf(level), (row) => rows.push(row));
    const put = async (some: readonly LevelRow[]): Promise<void> => {
      const bytes = encodeLevelChunk(group, level, some, !touches(holes, level, some));
      const offset = this.output.position - this.start;
      chunks.push({
        offset,
        firstBucket: some[0]!.bucket,
        size: bytes.length,
        crc: this.input.crc32(bytes, 0),
      });
      await this.output.append(bytes);
      count += some.length;
    };
    for await (const part of parts) {
      coarsener.add(part);
      while (rows.length > most) {
        await put(rows.slice(0, most));
        rows = rows.slice(most);
      }
    }
    coarsener.finish();
    let endBucket = 0;
    for (const { bucket, span } of rows) endBucket = bucket + span;
    for (let at = 0; at < rows.length; at += most) await put(rows.slice(at, at + most));
    return { level, endBucket, chunks, rows: count };
  }

  private async blocks(survey: Survey): Promise<number[]> {
    const crcs: number[] = [];
    const { segments } = this.input;
    for (let first = 0; first < segments; first += BLOCK_ENTRIES) {
      const block = new ByteWriter();
      const end = Math.min(segments, first + BLOCK_ENTRIES);
      for (let segment = first; segment < end; segment++) encodePlace(block, survey.place(segment));
      const bytes = block.finish();
      crcs.push(this.input.crc32(bytes, 0));
      await this.output.append(bytes);
    }
    return crcs;
  }
}

/** Buckets of 256 cycles whose rows lack what segments without a part TIME hold: first and last. */
interface Hole {
  readonly from: number;
  readonly to: number;
}

/** A row of zeros: it keeps the place of what is not known. */
function emptyRows({ columns }: ClockGroup, { from, to }: Hole): RowSource {
  return {
    firstBucket: from,
    bucketCycles: BUCKET_CYCLES,
    rows: 1,
    spans: Float64Array.of(to - from + 1),
    columns: Array.from({ length: columns }, () => new Float64Array(1)),
    unitPs: 1,
  };
}

function touches(holes: readonly Hole[], level: number, rows: readonly LevelRow[]): boolean {
  if (holes.length === 0) return false;
  const last = rows[rows.length - 1]!;
  const ratio = FAN_OUT ** level;
  const [first, end] = [rows[0]!.bucket * ratio, (last.bucket + last.span) * ratio];
  return holes.some(({ from, to }) => from < end && to >= first);
}

interface SurveyedGroup {
  timeBytes: number;
  readonly holes: Hole[];
  /** End of the last part; where segments without one began. */
  knownPs: bigint;
  missingFromPs: bigint | null;
}

class Survey {
  /** Of all containers. */
  bytes = 0;
  readonly groups: readonly SurveyedGroup[];
  private readonly offsets: Float64Array;
  private readonly sizes: Uint32Array;
  /** By core, births before each segment. */
  private readonly births: readonly Float64Array[];
  private readonly totals: number[];
  private readonly plan: IndexPlan;
  private readonly endPs: bigint;

  constructor({ plan, segments, startPs, endPs }: DirectoryInput) {
    this.plan = plan;
    this.endPs = endPs;
    this.groups = plan.groups.map(() => ({
      timeBytes: 0,
      holes: [],
      knownPs: startPs,
      missingFromPs: null,
    }));
    this.offsets = new Float64Array(segments);
    this.sizes = new Uint32Array(segments);
    this.births = plan.cores.map(() => new Float64Array(segments));
    this.totals = plan.cores.map(() => 0);
  }

  add(segment: number, container: PlacedContainer | null): void {
    this.offsets[segment] = container?.offset ?? 0;
    this.sizes[segment] = container?.size ?? 0;
    this.bytes += container?.size ?? 0;
    this.births.forEach((births, core) => {
      births[segment] = this.totals[core]!;
    });
    for (const group of this.plan.groups) {
      const part = timePartOf(container, group);
      const known = this.groups[group.index]!;
      known.timeBytes += container?.parts.find(isTimeOf(group))?.bytes.length ?? 0;
      this.addBirths(group, part);
      if (part) {
        this.endHole(group, part.fromPs);
        known.knownPs = part.toPs;
      } else known.missingFromPs ??= known.knownPs;
    }
  }

  /** Instructions of a core that were born in a segment; null: not known. */
  birthsIn(core: number, segment: number): number | null {
    const births = this.births[core]!;
    const count = (births[segment + 1] ?? this.totals[core]!) - births[segment]!;
    return Number.isNaN(count) ? null : count;
  }

  finish(): void {
    for (const group of this.plan.groups) this.endHole(group, this.endPs);
  }

  holes({ index }: ClockGroup): readonly Hole[] {
    return this.groups[index]!.holes;
  }

  /** What is missing ends where the next part begins. */
  private endHole({ index, periodPs }: ClockGroup, toPs: bigint): void {
    const group = this.groups[index]!;
    if (group.missingFromPs === null) return;
    const bucketPs = BigInt(periodPs) * BigInt(BUCKET_CYCLES);
    const from = Number(group.missingFromPs / bucketPs);
    group.holes.push({ from, to: Math.max(from, Number(toPs / bucketPs)) });
    group.missingFromPs = null;
  }

  place(segment: number): SegmentPlace {
    const births = this.births.map((counts) => (Number.isNaN(counts[segment]) ? null : counts[segment]!));
    return { offset: this.offsets[segment]!, size: this.sizes[segment]!, births };
  }

  /** @param part null: from here on the number is not known */
  private addBirths(group: ClockGroup, part: TimePart | null): void {
    this.plan.cores.forEach(({ core: { entities } }, core) => {
      const channel = group.channels.find(
        ({ kind, subject }) => kind === ChannelKind.BORN && subject === entities?.def.storageId,
      );
      if (!channel) return;
      if (!part) this.totals[core] = Number.NaN;
      else for (const count of part.columns[channel.column]!) this.totals[core] = this.totals[core]! + count;
    });
  }
}

const isTimeOf =
  ({ index }: ClockGroup) =>
  ({ kind, subject }: IndexPartBytes): boolean =>
    kind === IndexPart.TIME && subject === index;

/** null: it has none of the finest level. */
function timePartOf(container: PlacedContainer | null, group: ClockGroup): TimePart | null {
  const found = container?.parts.find(isTimeOf(group));
  if (!found) return null;
  try {
    const part = decodeTimePart(found.bytes, group);
    return part.bucketCycles === BUCKET_CYCLES ? part : null;
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}

/** The finest level that may be written: a level takes about a third of the bytes of the one below it, and all coarser ones half of that again. */
function finestWithin(timeBytes: number, maxBytes: number): number {
  let level = 1;
  for (let bytes = timeBytes / 2; bytes > maxBytes && level < MAX_LEVEL; bytes /= 3) level++;
  return level;
}
