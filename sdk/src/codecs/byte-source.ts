/** Where the bytes of a file come from. */

/** The sources of `uscope/reader` are such. */
export interface ByteSource {
  readonly name?: string | undefined;
  size(): Promise<number>;
  /** Fewer bytes at the end of the source. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close?(): void | Promise<void>;
}

const READ_BYTES = 256 * 1024;

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
