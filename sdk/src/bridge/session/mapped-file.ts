/**
 * A file that another process writes, seen where it is instead of being copied: by the addon, where there is one. It may become shorter at
 * any moment: what is missing then reads as zeros (sdk/kernel/native/mapping.h).
 */
import { type Addon, loadAddon } from '../../native/native-addon.js';

const WORD_BYTES = 4;

export class MappedFile {
  /** The first `size` bytes; null: they cannot be mapped. The descriptor is not needed any longer. */
  static open(fd: number, size: number): MappedFile | null {
    const addon = loadAddon();
    const buffer = addon?.mapFile(fd, size);
    return addon && buffer ? new MappedFile(addon, buffer) : null;
  }

  private constructor(
    private readonly addon: Addon,
    private readonly buffer: ArrayBuffer,
  ) {}

  /** Valid, and read-only, until `close`. null at an offset or of a size that words cannot have. */
  words(offset: number, size: number): Uint32Array | null {
    if (offset % WORD_BYTES !== 0 || size % WORD_BYTES !== 0) return null;
    return new Uint32Array(this.buffer, offset, size / WORD_BYTES);
  }

  /** All words handed out are empty from now on. */
  close(): void {
    this.addon.unmapFile(this.buffer);
  }
}
