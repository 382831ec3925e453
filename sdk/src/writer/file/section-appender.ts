/** Appends small pieces to one place of the file through a bounded buffer, and sums up their CRC-32. */
import { crc32 } from '#platform/crc32';
import type { OutputFile } from '../output/output-file.js';

const BUFFER_BYTES = 256 * 1024;

export class SectionAppender {
  /** Of what was flushed. */
  crc = 0;
  /** Where `room` is. */
  readonly buffer = new Uint8Array(BUFFER_BYTES);
  private used = 0;
  private flushed: number;

  constructor(
    private readonly file: OutputFile,
    start: number,
  ) {
    this.flushed = start;
  }

  /** File offset of the next byte. */
  get position(): number {
    return this.flushed + this.used;
  }

  hasRoom(size: number): boolean {
    return this.used + size <= BUFFER_BYTES;
  }

  /** Where the caller puts the next `size` bytes in `buffer`; -1, and nothing was done: it has no room. */
  room(size: number): number {
    const { used } = this;
    if (used + size > BUFFER_BYTES) return -1;
    this.used = used + size;
    return used;
  }

  /** Appends without waiting. False, and nothing was done: the buffer has no room. */
  take(bytes: Uint8Array): boolean {
    const at = this.room(bytes.length);
    if (at >= 0) this.buffer.set(bytes, at);
    return at >= 0;
  }

  async append(bytes: Uint8Array): Promise<void> {
    if (this.take(bytes)) return;
    await this.flush();
    if (!this.take(bytes)) await this.put(bytes);
  }

  async flush(): Promise<void> {
    if (this.used === 0) return;
    await this.put(this.buffer.subarray(0, this.used));
    this.used = 0;
  }

  private async put(bytes: Uint8Array): Promise<void> {
    await this.file.write([bytes], this.flushed);
    this.flushed += bytes.length;
    this.crc = crc32(bytes, this.crc);
  }
}
