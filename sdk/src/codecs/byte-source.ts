/** A source of the bytes of a file. */

/** The sources of `uscope/reader` are such. */
export interface ByteSource {
  readonly name?: string | undefined;
  size(): Promise<number>;
  /** Fewer bytes at the end of the source. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The same into memory of the caller. Returns the number of bytes. */
  readInto?(target: Uint8Array, offset: number): Promise<number>;
  close?(): void | Promise<void>;
}

const READ_BYTES = 256 * 1024;

/**
 * All bytes of a source in pieces which are valid until the next one is fetched: a file is read into the same memory again and again, which leaves
 * nothing to collect. @param onRead called with each offset reached
 */
export async function* readReusedPieces(
  source: ByteSource,
  onRead?: (offset: number) => void,
): AsyncGenerator<Uint8Array> {
  if (!source.readInto) {
    yield* readPieces(source, 0, Number.POSITIVE_INFINITY, onRead);
    return;
  }
  const memory = new Uint8Array(READ_BYTES);
  for (let at = 0; ; ) {
    const length = await source.readInto(memory, at);
    if (length === 0) return;
    at += length;
    onRead?.(at);
    yield memory.subarray(0, length);
  }
}

/** The bytes `[from, to)` of a source in pieces, fewer where it ends. @param onRead called with each offset reached */
export async function* readPieces(
  source: ByteSource,
  from: number,
  to: number,
  onRead?: (offset: number) => void,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const bytes = await source.read(at, Math.min(READ_BYTES, to - at));
    if (bytes.length === 0) return;
    at += bytes.length;
    onRead?.(at);
    yield bytes;
  }
}
