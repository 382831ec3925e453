/**
 * Makes the index of a trace as a file beside it. The containers are written in order of the segments, so that what is whole of an interrupted run
 * is kept, and at the end the directory; the file gets its name when it is finished.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { equalBytes } from '../../base/bytes.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import {
  decodeIndexContainer,
  INDEX_HEADER_SIZE,
  indexContainerSize,
  isIndexContainer,
} from '../../format/index-container.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { type PlacedContainer, writeDirectory } from '../../trace-index/directory/write-directory.js';
import { openIndex } from '../../trace-index/index.js';
import { trustedSidecar } from '../../trace-index/node/index.js';
import { type Carry, FIRST } from '../../trace-index/pass/index-pass.js';
import { endsTooLate, type IndexPlan, indexPlan } from '../../trace-index/plan.js';
import {
  decodeSidecarHead,
  encodeSidecarHead,
  isSameTrace,
  SIDECAR_HEAD_SIZE,
  type SidecarHead,
  sidecarHeadOf,
} from '../../trace-index/sidecar/format.js';
import { giveAccessOf } from '../../writer/output/file-access.js';
import { ioError, syncDirectory } from '../../writer/output/output-file.js';
import { distrustOf } from '../../writer/output/own-file.js';
import { lockPath, type PathLock } from '../../writer/output/path-lock.js';
import { carryOf, type Stretch, StretchIndexer } from './stretch.js';
import { indexedStretches } from './stretches.js';

/** Segments of a stretch: fewer cost more lookback, more are more in memory. */
const MIN_STRETCH = 8;
const MAX_STRETCH = 64;
/** Stretches for each thread, so that none waits long for the last. */
const PER_THREAD = 8;
/** Between two looks at whether another process has finished the same index. */
const POLL_MS = 100;

export interface SidecarOptions {
  /** Path or URL of the trace. */
  readonly trace: string;
  /** Path of the sidecar. */
  readonly output: string;
  /** Also where the trace has an index, and from the beginning. */
  readonly force?: boolean | undefined;
  /** Default: the machine's cores. */
  readonly threads?: number | undefined;
  readonly onProgress?: ((share: number) => void) | undefined;
  /** Another process makes the same index; this one waits for it. */
  readonly onWait?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SidecarReport {
  /** made: it was written. current: the trace has one already, in it or beside it. nothing: the trace has nothing to count by cycles. */
  readonly result: 'made' | 'current' | 'nothing';
  readonly segments: number;
  /** Segments whose containers an interrupted run had left. */
  readonly resumed: number;
  /** Segments without index: their frames do not follow the schema. */
  readonly without: number;
  /** Size of the sidecar; 0 where none was written. */
  readonly bytes: number;
}

/** @throws UscopeError READER_RANGE for a trace that ends too late; as opening and reading the trace; WRITER_* when the sidecar cannot be written */
export async function makeSidecar(options: SidecarOptions): Promise<SidecarReport> {
  const trace = await openTraceFile(options.trace);
  try {
    const plan = indexPlan(trace.schema, trace.dut);
    const segments = (await trace.segments()).length;
    const nothing = { segments, resumed: 0, without: 0, bytes: 0 };
    if (plan.groups.length === 0 || segments === 0) return { result: 'nothing', ...nothing };
    if (endsTooLate(trace)) {
      throw new UscopeError(
        'READER_RANGE',
        `the trace ends at ${trace.totalTimePs} ps: an index is exact up to 2^53 ps, 2.5 hours; questions read the trace without one`,
        { file: options.trace },
      );
    }
    const isCurrent = async () => !options.force && (await hasIndex(trace, options));
    if (await isCurrent()) return { result: 'current', ...nothing };
    const lock = await lockWhenFree(options);
    try {
      // Another process may have made it meanwhile.
      if (await isCurrent()) return { result: 'current', ...nothing };
      const file = await PartFile.open(
        `${options.output}.part`,
        await sidecarHeadOf(trace, plan),
        trace,
        options,
      );
      try {
        const report = await new SidecarMaker(trace, plan, file, options).make();
        await file.publish(options);
        return { result: 'made', segments, ...report };
      } finally {
        await file.close();
      }
    } finally {
      lock.release();
    }
  } finally {
    await trace.close();
  }
}

/** One process at a time makes an index, since an interrupted one is continued. */
async function lockWhenFree({ output, onWait, signal }: SidecarOptions): Promise<PathLock> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await lockPath(output);
    } catch (error) {
      if (!isUscopeError(error) || error.code !== 'WRITER_BUSY') throw error;
    }
    if (isFirst) onWait?.();
    await delay(POLL_MS, undefined, { signal });
  }
}

/** One that readers use: a sidecar that is damaged, of another trace, or from another user, is made anew. */
async function hasIndex(trace: Trace, { trace: path, output }: SidecarOptions): Promise<boolean> {
  const index = await openIndex(trace, {
    sidecar: () => trustedSidecar(trace, path, output),
  });
  await index?.close();
  return index !== null;
}

/** The file while it is made: a head, and the containers so far. */
class PartFile {
  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    readonly head: SidecarHead,
    private readonly trace: Trace,
  ) {}

  end = SIDECAR_HEAD_SIZE;

  static async open(
    path: string,
    head: SidecarHead,
    trace: Trace,
    { force }: SidecarOptions,
  ): Promise<PartFile> {
    try {
      if (force) await rm(path, { force: true });
      const handle = (await openOwn(path)) ?? (await open(path, 'wx+', PRIVATE_MODE));
      const file = new PartFile(path, handle, head, trace);
      if (!(await file.isOfTrace())) {
        await handle.truncate(0);
        await file.writeHead(head);
      }
      return file;
    } catch (error) {
      throw ioError(error, path);
    }
  }

  private async isOfTrace(): Promise<boolean> {
    const known = decodeSidecarHead(await this.read(0, SIDECAR_HEAD_SIZE), this.trace.crc32);
    return known !== null && isSameTrace(known, this.head);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    const { bytesRead } = await this.handle.read(bytes, 0, length, offset);
    return bytes.subarray(0, bytesRead);
  }

  async append(bytes: Uint8Array): Promise<void> {
    try {
      await this.handle.write(bytes, 0, bytes.length, this.end);
    } catch (error) {
      throw ioError(error, this.path);
    }
    this.end += bytes.length;
  }

  async writeHead(head: SidecarHead): Promise<void> {
    const bytes = encodeSidecarHead(head, this.trace.crc32);
    await this.handle.write(bytes, 0, bytes.length, 0);
  }

  async publish({ trace, output: path }: SidecarOptions): Promise<void> {
    try {
      await this.handle.truncate(this.end);
      await giveAccessOf([trace], this.handle);
      await this.handle.sync();
      await rename(this.path, path);
      await syncDirectory(dirname(path));
    } catch (error) {
      throw ioError(error, path);
    }
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/** The part that this user has left; null, and nothing is there any more: there was none, or another user may have made it. */
async function openOwn(path: string): Promise<FileHandle | null> {
  const handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  );
  const found = await handle?.stat();
  if (found?.isFile() && found.nlink === 1 && distrustOf(found) === null) return handle;
  await handle?.close();
  await rm(path, { force: true });
  return null;
}

class SidecarMaker {
  private readonly indexer: StretchIndexer;
  /** Where the containers are; 0: the segment has none. */
  private readonly offsets: Float64Array;
  private readonly sizes: Uint32Array;
  private without = 0;

  constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
    private readonly file: PartFile,
    private readonly options: SidecarOptions,
  ) {
    this.indexer = new StretchIndexer(trace, plan);
    this.offsets = new Float64Array(trace.segmentCount);
    this.sizes = new Uint32Array(trace.segmentCount);
  }

  async make(): Promise<{ resumed: number; without: number; bytes: number }> {
    const { segmentCount } = this.trace;
    const kept = await this.keepWhole();
    let { carry } = kept;
    const threads = this.options.threads ?? availableParallelism();
    const { trace: path, signal, onProgress } = this.options;
    const stretches = stretchesOf(kept.segments, segmentCount, threads);
    for await (const stretch of indexedStretches(stretches, this.indexer, { path, threads, signal })) {
      // Until the carry at the border is the one that the stretch was made with, its segments are made again.
      let isKnown = sameCarry(stretch.carry, carry);
      for (const [index, found] of stretch.containers.entries()) {
        const segment = stretch.first + index;
        const container = isKnown ? found : await this.indexer.one(segment, carry);
        carry = container && carryOf(container);
        if (!isKnown) isKnown = sameCarry(found && carryOf(found), carry);
        await this.add(segment, container);
      }
      onProgress?.(stretch.end / segmentCount);
    }
    await this.finish();
    return { resumed: kept.segments, without: this.without, bytes: this.file.end };
  }

  private async add(segment: number, container: Uint8Array | null): Promise<void> {
    if (!container) {
      this.without++;
      return;
    }
    this.offsets[segment] = this.file.end;
    this.sizes[segment] = container.length;
    await this.file.append(container);
  }

  /** What an interrupted run has left: containers that are whole, and of the segments from the first on. */
  private async keepWhole(): Promise<{ segments: number; carry: Carry }> {
    let carry: Carry = FIRST;
    let segment = 0;
    for (; segment < this.trace.segmentCount; segment++) {
      const container = await this.stored(this.file.end);
      if (!container) break;
      const decoded = decodeIndexContainer(container, this.file.end, this.trace.crc32);
      const { offset } = await this.trace.segment(segment);
      if (!decoded || decoded.planCrc !== this.plan.crc || decoded.segmentOffset !== BigInt(offset)) break;
      this.offsets[segment] = this.file.end;
      this.sizes[segment] = container.length;
      this.file.end += container.length;
      carry = carryOf(container);
    }
    return { segments: segment, carry };
  }

  private async stored(offset: number): Promise<Uint8Array | null> {
    const size = indexContainerSize(await this.file.read(offset, INDEX_HEADER_SIZE));
    if (size === 0) return null;
    const bytes = await this.file.read(offset, size);
    return isIndexContainer(bytes, this.trace.crc32) ? bytes : null;
  }

  private async finish(): Promise<void> {
    const { trace, plan, file } = this;
    const { head } = file;
    const offset = file.end;
    const { timeStartPs } = await trace.segment(0);
    const { timeEndPs } = await trace.segment(trace.segmentCount - 1);
    await writeDirectory(
      {
        plan,
        segments: trace.segmentCount,
        startPs: timeStartPs,
        endPs: timeEndPs,
        maxBytes: () => Number.POSITIVE_INFINITY,
        crc32: trace.crc32,
        container: (segment) => this.placed(segment),
      },
      {
        get position() {
          return file.end;
        },
        append: (bytes) => file.append(bytes),
      },
    );
    await file.writeHead({ ...head, directory: { offset, size: file.end - offset } });
  }

  private async placed(segment: number): Promise<PlacedContainer | null> {
    const [offset, size] = [this.offsets[segment]!, this.sizes[segment]!];
    if (offset === 0) return null;
    const parts = decodeIndexContainer(await this.file.read(offset, size), offset, this.trace.crc32)?.parts;
    if (parts) return { offset, size, parts };
    throw new UscopeError('WRITER_IO', 'the index being written cannot be read back', { offset });
  }
}

function stretchesOf(first: number, count: number, threads: number): Stretch[] {
  const length = Math.min(
    MAX_STRETCH,
    Math.max(MIN_STRETCH, Math.ceil((count - first) / (threads * PER_THREAD))),
  );
  const stretches: Stretch[] = [];
  for (let at = first; at < count; at += length)
    stretches.push({ first: at, end: Math.min(count, at + length) });
  return stretches;
}

function sameCarry(a: Carry, b: Carry): boolean {
  return a === null || b === null ? a === b : equalBytes(a, b);
}
