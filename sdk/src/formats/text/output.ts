/** Writes text, packed as the file's extension says. */
import { gzipStream } from '#platform/zlib';
import { UscopeError } from '../../base/errors.js';
import type { GzipStream } from '../../codecs/platform/zlib.js';
import { canCompressZstd, compressFrame } from '../../codecs/zstd.js';
import type { Packing } from './unpack.js';

/** Where bytes go; a `ByteOutput` of the conversions is one. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

const PIECE_CHARACTERS = 128 * 1024;
const ZSTD_LEVEL = 3;

/** `.gz` and `.zst`, `.zstd` are packed; everything else is plain. */
export function packingOfExtension(extension: string): Packing {
  if (/\.gz$/i.test(extension)) return 'gzip';
  return /\.zstd?$/i.test(extension) ? 'zstd' : 'plain';
}

/**
 * Collects text; the caller awaits `drain()` now and then, which is cheap while little has come together.
 *
 *     out.add('C\t1\n'); ... await out.drain(); ... await out.end();
 */
export class TextOutput {
  private text = '';
  /** The first frame of zstd is small, so that the beginning of the file says what it is. */
  private pieceCharacters: number;
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
    this.pieceCharacters = packing === 'zstd' ? 1 : PIECE_CHARACTERS;
    this.gzip = packing === 'gzip' ? gzipStream() : null;
  }

  add(text: string): void {
    this.text += text;
  }

  async drain(): Promise<void> {
    if (this.text.length >= this.pieceCharacters) await this.writePiece();
  }

  async end(): Promise<void> {
    if (this.text.length > 0) await this.writePiece();
    if (this.gzip) await this.writeAll(await this.gzip.end());
  }

  private async writePiece(): Promise<void> {
    const bytes = new TextEncoder().encode(this.text);
    this.text = '';
    this.pieceCharacters = PIECE_CHARACTERS;
    if (this.gzip) await this.writeAll(await this.gzip.write(bytes));
    // A frame per piece: readers take frames one after the other as one.
    else if (this.packing === 'zstd') await this.sink.write(compressFrame(bytes, ZSTD_LEVEL));
    else await this.sink.write(bytes);
  }

  private async writeAll(pieces: readonly Uint8Array[]): Promise<void> {
    for (const bytes of pieces) await this.sink.write(bytes);
  }
}
