/**
 * What the index says of each segment. Where a container is missing, damaged or made by other rules, the segment itself is read and counted anew,
 * and the trace warns once.
 */
import { isUscopeError } from '../../base/errors.js';
import {
  decodeIndexContainer,
  type IndexContainer,
  IndexPart,
  type IndexPartBytes,
} from '../../format/index-container.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { BUCKET_CYCLES } from '../channels.js';
import { bucketCyclesOf } from '../levels/level-chunk.js';
import type { IndexPass } from '../pass/index-pass.js';
import { type Carry, FIRST } from '../pass/index-pass.js';
import type { IndexPlan } from '../plan.js';
import { decodeTimePart, type TimePart } from '../time-part.js';
import { BoundedCache } from './bounded-cache.js';
import { type ContainerSource, isContainer, type NoContainer } from './container-source.js';

/** Kept between questions, half of it as stored and half decoded. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Of an entry, and of each typed array in it: segments are small, so that these are much of what is kept. */
const ENTRY_BYTES = 512;
const VIEW_BYTES = 96;
/** Segments read before one whose container is missing, to know what was in flight at its start. */
const LOOKBACK = 2;

/** The parts of one segment's index. */
interface SegmentIndex {
  readonly parts: readonly IndexPartBytes[];
  /** Counted from the segment itself. */
  readonly isScanned: boolean;
}

export class SegmentParts {
  private readonly indices: BoundedCache<number, SegmentIndex>;
  private readonly times: BoundedCache<string, TimePart>;
  private pass: Promise<IndexPass> | null = null;
  private readonly pending = new Map<number, Promise<SegmentIndex>>();

  constructor(
    readonly trace: Trace,
    readonly plan: IndexPlan,
    private readonly containers: ContainerSource,
    /** Of the parts that are kept between questions. */
    cacheBytes = CACHE_BYTES,
  ) {
    this.indices = new BoundedCache(cacheBytes / 2, sizeOfIndex);
    this.times = new BoundedCache(cacheBytes / 2, sizeOfTimes);
  }

  /**
   * TIME of one segment, with rows of 256 cycles. @throws UscopeError FORMAT_* where the segment itself is damaged
   * @param level with rows of up to 256 · 4^level cycles, as they are stored
   */
  async time(segment: number, group: number, level = 0): Promise<TimePart> {
    const key = `${segment}/${group}`;
    const known = this.times.get(key);
    if (known && known.bucketCycles <= bucketCyclesOf(level)) return known;
    const part = await this.readTime(segment, group, bucketCyclesOf(level));
    this.times.set(key, part);
    return part;
  }

  /** A part as it is stored; null: the segment's index has none of that kind. */
  async part(segment: number, kind: number, subject = 0): Promise<Uint8Array | null> {
    const { parts } = await this.index(segment);
    return findPart(parts, kind, subject);
  }

  /** The same, without counting the segment anew where it has no container. */
  async storedPart(segment: number, kind: number, subject = 0): Promise<Uint8Array | null> {
    const known = this.indices.get(segment);
    if (known) return known.isScanned ? null : findPart(known.parts, kind, subject);
    const parts = await this.storedParts(segment);
    return parts && findPart(parts, kind, subject);
  }

  /** All parts as they are stored; null: the segment has no container, or one that cannot be used, of which the trace warns. */
  async storedParts(segment: number): Promise<readonly IndexPartBytes[] | null> {
    const found = await this.containers.read(segment);
    if (isContainer(found)) return found.parts;
    if (found.reason !== 'absent') this.warnOf(found);
    return null;
  }

  /** A part of which the stored index has none, counted from the segment. @throws UscopeError FORMAT_* where that is damaged */
  async countedPart(segment: number, kind: number, subject: number): Promise<Uint8Array | null> {
    return findPart((await this.scan(segment)).parts, kind, subject);
  }

  private async readTime(segment: number, subject: number, bucketCycles: number): Promise<TimePart> {
    const group = this.plan.groups[subject]!;
    const index = await this.index(segment);
    const bytes = findPart(index.parts, IndexPart.TIME, subject);
    if (bytes) {
      try {
        const part = decodeTimePart(bytes, group);
        if (part.bucketCycles <= bucketCycles) return part;
      } catch (error) {
        if (!isFormatError(error) || index.isScanned) throw error;
        this.trace.warn('index-damaged', `the index of segment ${segment} is damaged: ${String(error)}`);
      }
    }
    const scanned = await this.scan(segment);
    const found = findPart(scanned.parts, IndexPart.TIME, subject);
    if (found) return decodeTimePart(found, group);
    return emptyPart(await this.trace.loadSegment(segment), group.periodPs, group.columns);
  }

  private index(segment: number): Promise<SegmentIndex> | SegmentIndex {
    const known = this.indices.get(segment) ?? this.pending.get(segment);
    if (known) return known;
    const reading = this.readIndex(segment).finally(() => this.pending.delete(segment));
    this.pending.set(segment, reading);
    return reading;
  }

  private async readIndex(segment: number): Promise<SegmentIndex> {
    const found = await this.containers.read(segment);
    if (isContainer(found)) {
      const index = { parts: found.parts, isScanned: false };
      this.indices.set(segment, index);
      return index;
    }
    this.warnOf(found);
    return this.scan(segment);
  }

  private warnOf({ detail }: NoContainer): void {
    this.trace.warn('index-damaged', `${detail}: what it should say is counted from the trace`);
  }

  /** Counts a segment anew, from the carry of the one before. */
  private async scan(segment: number): Promise<SegmentIndex> {
    const known = this.indices.get(segment);
    if (known?.isScanned) return known;
    const loaded = await this.trace.loadSegment(segment);
    const made = await (await this.indexPass()).run(loaded, await this.carryBefore(segment));
    const parts = made ? (decodeIndexContainer(made.container)?.parts ?? []) : [];
    const index = { parts, isScanned: true };
    this.indices.set(segment, index);
    return index;
  }

  /** Brought in when a segment has to be counted: most readers never need it. */
  private indexPass(): Promise<IndexPass> {
    this.pass ??= import('../pass/index-pass.js').then(
      ({ IndexPass }) => new IndexPass(this.trace, this.plan),
    );
    return this.pass;
  }

  private async carryBefore(segment: number): Promise<Carry> {
    if (segment === 0) return FIRST;
    const before = await this.containers.read(segment - 1);
    if (isContainer(before)) {
      const carry = findPart(before.parts, IndexPart.CARRY, 0);
      if (carry) return carry;
    }
    const first = Math.max(0, segment - LOOKBACK);
    let carry: Carry = first === 0 ? FIRST : await this.storedCarry(first - 1);
    for (let index = first; index < segment; index++) {
      const loaded = await this.trace.loadSegment(index);
      carry = (await (await this.indexPass()).run(loaded, carry))?.carry ?? null;
    }
    return carry;
  }

  private async storedCarry(segment: number): Promise<Carry> {
    const container = await this.containers.read(segment);
    return isContainer(container) ? findPart(container.parts, IndexPart.CARRY, 0) : null;
  }
}

function findPart(parts: IndexContainer['parts'], kind: number, subject: number): Uint8Array | null {
  return parts.find((part) => part.kind === kind && part.subject === subject)?.bytes ?? null;
}

function emptyPart({ header }: LoadedSegment, periodPs: number, columns: number): TimePart {
  const { timeStartPs, timeEndPs } = header;
  const bucketPs = BigInt(periodPs) * BigInt(BUCKET_CYCLES);
  const firstBucket = Number(timeStartPs / bucketPs);
  return {
    fromPs: timeStartPs,
    toPs: timeEndPs,
    isExact: false,
    unitPs: 1,
    firstBucket,
    bucketCycles: BUCKET_CYCLES,
    rows: 1,
    spans: Float64Array.of(1),
    columns: Array.from({ length: columns }, () => new Float64Array(1)),
  };
}

function isFormatError(error: unknown): boolean {
  return isUscopeError(error) && error.code.startsWith('FORMAT_');
}

function sizeOfIndex({ parts }: SegmentIndex): number {
  return parts.reduce((sum, { bytes }) => sum + bytes.length + VIEW_BYTES, ENTRY_BYTES);
}

function sizeOfTimes({ columns, rows }: TimePart): number {
  return (columns.length + 1) * (rows * 8 + VIEW_BYTES) + ENTRY_BYTES;
}
