/** Reads the directory of an index (docs/reference/format.md#index-directory). Everything in it has a checksum; what is damaged is made from the containers. */
import { isUscopeError } from '../../base/errors.js';
import type { Crc32 } from '../../format/commit-record.js';
import { INDEX_HEADER_SIZE, type IndexContainer } from '../../format/index-container.js';
import type { Trace } from '../../reader/index.js';
import type { ClockGroup } from '../channels.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import { type ContainerSource, checkedContainer, type NoContainer } from '../containers/container-source.js';
import type { ChunkPlace, Level, LevelPart } from '../levels/level.js';
import { bucketCyclesOf } from '../levels/level-chunk.js';
import type { IndexPlan } from '../plan.js';
import type { RowLevel } from '../rows/row-levels.js';
import { decodeTimePart } from '../time-part.js';
import {
  BLOCK_ENTRIES,
  type DirectoryHead,
  decodeHead,
  decodePlace,
  entrySize,
  headSize,
  type LevelEntry,
  type SegmentPlace,
  TAIL_SIZE,
} from './format.js';
import { StoredRowLevel, storedUnions, type Unions } from './stored-rows.js';

/** Read in one piece from the end of the directory: of a short trace all of it. */
const FIRST_READ = 64 * 1024;
/** Chunks that follow each other are read together up to this number of bytes. */
const MAX_RUN_BYTES = 1024 * 1024;
const CACHE_BYTES = 32 * 1024 * 1024;
const BLOCK_CACHE_BYTES = 1024 * 1024;

/** At most `length` bytes from an offset on. */
export type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>;

/** Makes the rows of a chunk that cannot be read. */
export type RepairChunk = (group: number, level: number, place: ChunkPlace) => Promise<LevelPart>;

export class Directory implements ContainerSource {
  private readonly blocks = new BoundedCache<number, Uint8Array>(BLOCK_CACHE_BYTES, ({ length }) => length);

  private constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
    private readonly readBytes: ReadBytes,
    private readonly start: number,
    readonly head: DirectoryHead,
  ) {}

  /**
   * null: it is damaged, of another layout, or made by other rules; the trace then warns.
   * @param section where the directory is in the file that `read` reads
   * @throws UscopeError READER_* when the file cannot be read
   */
  static async open(
    trace: Trace,
    plan: IndexPlan,
    read: ReadBytes,
    section: { readonly offset: number; readonly size: number },
  ): Promise<Directory | null> {
    const refuse = (detail: string): null => {
      trace.warn('index-damaged', `the directory of the index is not used: ${detail}`);
      return null;
    };
    try {
      const head = await readHead(read, section, trace.crc32);
      if (!head) return refuse('it has a layout of another release');
      if (head.planCrc !== plan.crc || head.levels.length !== plan.groups.length) {
        return refuse('it was made by other rules');
      }
      if (head.cores !== plan.cores.length || head.segments !== trace.segmentCount) {
        return refuse(`it is of ${head.segments} segments, the trace has ${trace.segmentCount}`);
      }
      return new Directory(trace, plan, read, section.offset, head);
    } catch (error) {
      if (!isUscopeError(error) || !error.code.startsWith('FORMAT_')) throw error;
      return refuse(`${error.detail} (${error.code})`);
    }
  }

  async read(segment: number): Promise<IndexContainer | NoContainer> {
    const { trace } = this;
    const place = await this.place(segment);
    const { offset: segmentOffset } = await trace.segment(segment);
    if (!place || place.offset === 0 || place.size < INDEX_HEADER_SIZE) {
      return { reason: 'absent', detail: `the directory has no index container for segment ${segment}` };
    }
    const bytes = await this.readBytes(place.offset, place.size);
    return checkedContainer(bytes, place.offset, segmentOffset, this.plan.crc, trace.crc32);
  }

  /** null: the entries are damaged. */
  async place(segment: number): Promise<SegmentPlace | null> {
    const { cores, blocksOffset, segments, blockCrcs } = this.head;
    const index = Math.floor(segment / BLOCK_ENTRIES);
    let block = this.blocks.get(index);
    if (!block) {
      const first = index * BLOCK_ENTRIES;
      const size = Math.min(BLOCK_ENTRIES, segments - first) * entrySize(cores);
      block = await this.readBytes(this.start + blocksOffset + first * entrySize(cores), size);
      if (block.length !== size || this.trace.crc32(block, 0) !== blockCrcs[index]) {
        this.trace.warn('index-damaged', 'entries of the directory of the index are damaged');
        return null;
      }
      this.blocks.set(index, block);
    }
    return decodePlace(block, segment - index * BLOCK_ENTRIES, cores);
  }

  /** Instructions of a core born before a segment; null: the directory does not say. */
  async birthsBefore(core: number, segment: number): Promise<number | null> {
    const { group } = this.plan.cores[core]!;
    // Where containers lacked their part TIME, not all births were counted.
    if (group < 0 || this.head.levels[group]!.length === 0 || segment >= this.head.segments) return null;
    return (await this.place(segment))?.births[core] ?? null;
  }

  /** By level number; null: the directory has none of that group. */
  levels(group: ClockGroup, repair: RepairChunk): ReadonlyMap<number, Level> | null {
    const entries = this.head.levels[group.index]!;
    if (entries.length === 0) return null;
    const file = this.levelFile;
    return new Map(
      entries.map((entry) => [entry.level, new StoredLevel(file, group, entry, repair)] as const),
    );
  }

  /** Levels of the rows of a core, from the finest to the coarsest that are here. */
  rowLevels(core: number): readonly RowLevel[] {
    const { rows } = this.plan.cores[core]!;
    const levels = this.head.rows[core];
    return rows && levels
      ? levels.map((entry) => new StoredRowLevel(this.levelFile, entry, rows.stages))
      : [];
  }

  /** What segments name together, the coarsest unions first; null: not known. @param subject core, or their number for the strings */
  unions<T>(subject: number, decode: (bytes: Uint8Array) => T): readonly Unions<T>[] {
    const levels = this.head.sets[subject] ?? [];
    return levels.map((entry) => storedUnions(this.levelFile, entry, decode)).reverse();
  }

  private get levelFile(): LevelFile {
    const { trace, readBytes, start } = this;
    const warn = (detail: string) => trace.warn('index-damaged', detail);
    return { read: readBytes, start, crc32: trace.crc32, warn };
  }
}

async function readHead(
  read: ReadBytes,
  { offset, size }: { readonly offset: number; readonly size: number },
  crc32: Crc32,
): Promise<DirectoryHead | null> {
  const length = Math.min(size, FIRST_READ);
  const end = await read(offset + size - length, length);
  const bytes = headSize(end.subarray(Math.max(0, end.length - TAIL_SIZE)), size);
  if (bytes === null) return null;
  const whole = bytes + TAIL_SIZE;
  const head =
    whole <= end.length ? end.subarray(end.length - whole) : await read(offset + size - whole, whole);
  return decodeHead(head, size - whole, crc32);
}

export interface LevelFile {
  readonly read: ReadBytes;
  readonly start: number;
  readonly crc32: Crc32;
  warn(detail: string): void;
}

class StoredLevel implements Level {
  readonly bucketCycles: number;
  private readonly known = new BoundedCache<number, LevelPart>(
    CACHE_BYTES,
    ({ rows, columns }) => rows * columns.length * 8,
  );

  constructor(
    private readonly file: LevelFile,
    private readonly group: ClockGroup,
    private readonly entry: LevelEntry,
    private readonly repair: RepairChunk,
  ) {
    this.bucketCycles = bucketCyclesOf(entry.level);
  }

  get length(): number {
    return this.entry.chunks.length;
  }

  place(chunk: number): ChunkPlace {
    const { chunks, endBucket } = this.entry;
    return {
      firstBucket: chunks[chunk]!.firstBucket,
      endBucket: chunks[chunk + 1]?.firstBucket ?? endBucket,
    };
  }

  async *load(first: number, end: number): AsyncGenerator<LevelPart> {
    const { chunks } = this.entry;
    for (let at = first; at < end; ) {
      const known = this.known.get(at);
      if (known) {
        yield known;
        at++;
        continue;
      }
      const start = chunks[at]!.offset;
      let stop = at + 1;
      while (stop < end && chunks[stop]!.offset + chunks[stop]!.size - start <= MAX_RUN_BYTES) stop++;
      const last = chunks[stop - 1]!;
      const bytes = await this.file.read(this.file.start + start, last.offset + last.size - start);
      for (; at < stop; at++) {
        const { offset, size } = chunks[at]!;
        const part = await this.decode(at, bytes.subarray(offset - start, offset - start + size));
        this.known.set(at, part);
        yield part;
      }
    }
  }

  private async decode(chunk: number, bytes: Uint8Array): Promise<LevelPart> {
    const { size, crc } = this.entry.chunks[chunk]!;
    const place = this.place(chunk);
    if (bytes.length === size && this.file.crc32(bytes, 0) === crc) {
      const part = tryDecode(bytes, this.group);
      if (part && part.firstBucket === place.firstBucket && part.bucketCycles === this.bucketCycles) {
        // It says itself that it lacks some segments.
        return part.isExact ? part : this.repair(this.group.index, this.entry.level, place);
      }
    }
    this.file.warn('a chunk of the index is damaged: what it should say is made from finer ones');
    return this.repair(this.group.index, this.entry.level, place);
  }
}

function tryDecode(bytes: Uint8Array, group: ClockGroup): LevelPart | null {
  try {
    return decodeTimePart(bytes, group);
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}
