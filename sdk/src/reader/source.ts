/**
 * A source of a trace's bytes. The reader only asks for ranges, so files, browser blobs, HTTP ranges and memory
 * look alike to it. `reader/node.ts` has the file source; this file is free of Node.
 */
import { UscopeError } from '../base/errors.js';

export interface Source {
  /** What errors call this source: a path or URL. */
  readonly name?: string | undefined;
  /** Bytes available now. A live trace grows, so this is asked again whenever it matters. */
  size(): Promise<number>;
  /**
   * The bytes `[offset, offset + length)`, fewer where the source ends. The range is checked against `size()` by the reader first, so a
   * source need not guard against absurd lengths. The caller may keep the array; the source must not change it.
   */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The same into `target`, which the caller has for it and does not use meanwhile. @returns the number of bytes */
  readInto?(target: Uint8Array, offset: number): Promise<number>;
  /** What was read before may have changed: a source that keeps bytes forgets them. Called at the start of every poll of a live trace. */
  refresh?(): Promise<void>;
  /**
   * The trace is finalized: from now on the bytes do not change, and a source that can detect a change reports it.
   * @throws UscopeError READER_CHANGED when they have changed since the last refresh
   */
  settle?(): void;
  close?(): Promise<void>;
}

/** A source over bytes in memory. A function instead of an array gives a trace that grows (for instance one being received). */
export function memorySource(bytes: Uint8Array | (() => Uint8Array), name?: string): Source {
  const current = typeof bytes === 'function' ? bytes : () => bytes;
  return {
    name,
    size: async () => current().byteLength,
    read: async (offset, length) => current().subarray(offset, offset + length),
  };
}

/** A source over a browser's File or Blob (also Node's). */
export function blobSource(blob: Blob, name?: string): Source {
  return {
    name: name ?? (blob as { name?: string }).name,
    size: async () => blob.size,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  };
}

/** A source with its errors named and its size remembered: every read is checked against the size before anything is allocated. */
export class CheckedSource {
  private knownSize = -1;

  constructor(private readonly source: Source) {}

  /** Exactly the bytes `[offset, offset + length)`.
   * @throws UscopeError FORMAT_TRUNCATED when the source ends before, READER_OPEN when it cannot be read. */
  async exactly(offset: number, length: number, what: string): Promise<Uint8Array> {
    if (!(await this.reaches(offset + length))) {
      throw new UscopeError(
        'FORMAT_TRUNCATED',
        `${what} needs bytes ${offset} to ${offset + length}, the file has ${this.knownSize}; it was cut or is still being written`,
        { offset },
      );
    }
    const bytes = await this.read(offset, length);
    if (bytes.byteLength < length) {
      throw new UscopeError('FORMAT_TRUNCATED', `${what} ends after ${bytes.byteLength} of ${length} bytes`, {
        offset,
      });
    }
    return bytes;
  }

  /** At most `length` bytes at `offset`; fewer at the end of the source, none beyond it. */
  async upTo(offset: number, length: number): Promise<Uint8Array> {
    if (await this.reaches(offset + length)) return this.read(offset, length);
    return this.knownSize <= offset ? new Uint8Array(0) : this.read(offset, this.knownSize - offset);
  }

  /** Whether `into` spares memory. */
  get readsInto(): boolean {
    return this.source.readInto !== undefined;
  }

  /** Like `upTo`, in memory of the caller's: its first bytes, as many as there are. Only where `readsInto`. */
  async into(target: Uint8Array, offset: number): Promise<Uint8Array> {
    const { source } = this;
    await this.reaches(offset + target.byteLength);
    const length = Math.max(0, Math.min(target.byteLength, this.knownSize - offset));
    const wanted = target.subarray(0, length);
    if (length === 0 || !source.readInto) return wanted.subarray(0, 0);
    return wanted.subarray(0, await guarded(() => source.readInto!(wanted, offset)));
  }

  /** True if the source has at least `size` bytes. Asks the source only when the size known so far is too small. */
  async reaches(size: number): Promise<boolean> {
    if (size > this.knownSize) this.knownSize = await guarded(() => this.source.size());
    return size <= this.knownSize;
  }

  /** Before a live trace is looked at again. */
  async refresh(): Promise<void> {
    await guarded(async () => this.source.refresh?.());
  }

  /** Once the trace is known to be finalized. */
  settle(): void {
    this.source.settle?.();
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  private async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = await guarded(() => this.source.read(offset, length));
    return bytes.byteLength > length ? bytes.subarray(0, length) : bytes;
  }
}

async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof UscopeError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UscopeError('READER_OPEN', `the trace cannot be read: ${reason}`, {}, { cause: error });
  }
}
