/** Writes text, packed as the file's extension says. */
import { constants, createGzip, type Gzip } from 'node:zlib';
import { UscopeError } from '../../base/errors.js';
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
  /** The first frame of zstd is small, so that the beginning of the file tells what it is. */
  private pieceCharacters: number;
  private readonly gzip: Gzip | null;
  private readonly packed: Uint8Array[] = [];

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
    this.gzip = packing === 'gzip' ? createGzip() : null;
    this.gzip?.on('data', (bytes: Uint8Array) => this.packed.push(bytes));
  }

  add(text: string): void {
    this.text += text;
  }

  async drain(): Promise<void> {
    if (this.text.length >= this.pieceCharacters) await this.writePiece();
  }

  async end(): Promise<void> {
    if (this.text.length > 0) await this.writePiece();
    const { gzip } = this;
    if (!gzip) return;
    await new Promise<void>((resolve, reject) => gzip.once('error', reject).once('end', resolve).end());
    await this.writePacked();
  }

  private async writePiece(): Promise<void> {
    const bytes = new TextEncoder().encode(this.text);
    this.text = '';
    this.pieceCharacters = PIECE_CHARACTERS;
    if (this.packing === 'plain') await this.sink.write(bytes);
    // A frame per piece: readers take frames one after the other as one.
    else if (this.packing === 'zstd') await this.sink.write(compressFrame(bytes, ZSTD_LEVEL));
    else await this.throughGzip(bytes);
  }

  private async throughGzip(bytes: Uint8Array): Promise<void> {
    const { gzip } = this;
    if (!gzip) return;
    await new Promise<void>((resolve, reject) => {
      gzip.write(bytes, (error) => (error ? reject(error) : gzip.flush(constants.Z_NO_FLUSH, resolve)));
    });
    await this.writePacked();
  }

  private async writePacked(): Promise<void> {
    for (const bytes of this.packed.splice(0)) await this.sink.write(bytes);
  }
}
