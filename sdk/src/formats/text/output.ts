/** Writes text, packed as the file's extension says. */
import { gzipStream } from '#platform/zlib';
import { UscopeError } from '../../base/errors.js';
import type { GzipStream } from '../../codecs/platform/zlib.js';
import { canCompressZstd, compressFrame } from '../../codecs/zstd.js';
import { ByteText } from './byte-text.js';
import type { Packing } from './unpack.js';

/** Where bytes go; a `ByteOutput` of the conversions is one. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

const PIECE_BYTES = 128 * 1024;
const ZSTD_LEVEL = 3;

/** `.gz` and `.zst`, `.zstd` are packed; everything else is plain. */
export function packingOfExtension(extension: string): Packing {
  if (/\.gz$/i.test(extension)) return 'gzip';
  return /\.zstd?$/i.test(extension) ? 'zstd' : 'plain';
}

/**
 * Collects text; the caller awaits `drain()` when `isFull`.
 *
 *     out.text.ascii('C\t1\n'); ... if (out.isFull) await out.drain(); ... await out.end();
 */
export class TextOutput {
  /** What is written next. */
  readonly text = new ByteText();
  /** The first frame of zstd is small, so that the beginning of the file says what it is. */
  private pieceBytes: number;
  private readonly gzip: GzipStream | null;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package */
  constructor(
    private readonly sink: ByteSink,
    private readonly packing: Packing,
  ) {
    if (packing === 'zstd' && !canCompressZstd()) {
      throw new UscopeError(
        'ENV_MISSING',
        'writing zstd needs the optional package zstd-napi, which is not installed: install it, or write .gz or plain text',
      );
    }
    this.pieceBytes = packing === 'zstd' ? 1 : PIECE_BYTES;
    this.gzip = packing === 'gzip' ? gzipStream() : null;
  }

  /** Whether `drain` is due. */
  get isFull(): boolean {
    return this.text.length >= this.pieceBytes;
  }

  async drain(): Promise<void> {
    if (this.isFull) await this.writePiece();
  }

  async end(): Promise<void> {
    if (this.text.length > 0) await this.writePiece();
    if (this.gzip) await this.writeAll(await this.gzip.end());
  }

  private async writePiece(): Promise<void> {
    // Its own copy: a sink may keep it.
    const bytes = this.text.used.slice();
    this.text.clear();
    this.pieceBytes = PIECE_BYTES;
    if (this.gzip) await this.writeAll(await this.gzip.write(bytes));
    // A frame per piece: readers take frames one after the other as one.
    else if (this.packing === 'zstd') await this.sink.write(compressFrame(bytes, ZSTD_LEVEL));
    else await this.sink.write(bytes);
  }

  private async writeAll(pieces: readonly Uint8Array[]): Promise<void> {
    for (const bytes of pieces) await this.sink.write(bytes);
  }
}
