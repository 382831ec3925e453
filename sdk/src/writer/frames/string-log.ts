/** Strings of a trace on their way into commit records: numbered from 0, kept in memory only until a segment takes them along. */
import { crc32 } from '#platform/crc32';
import { type EncodedStrings, StringEncoder } from '../../format/encoded-strings.js';
import { recordError } from './frame-checker.js';

const NO_BYTES = new Uint8Array(0);

export class StringLog {
  private readonly pending = new StringEncoder(crc32);
  /** Of the records that strings were taken from last: a view for each string would be most of the work. */
  private words: Uint32Array | null = null;
  private bytes: Uint8Array = NO_BYTES;

  constructor(
    /** Index of the next string. */
    public next = 0,
  ) {}

  /**
   * Takes the string of a STRING record (docs/reference/bridge-protocol.md#records). Resent strings are dropped.
   * @throws UscopeError BRIDGE_RECORD when an index is left out.
   */
  take(words: Uint32Array, record: number): void {
    const length = words[record + 1];
    const index = words[record + 2] + words[record + 3] * 2 ** 32;
    if (index < this.next) return;
    if (index > this.next) throw recordError(`string ${index} follows string ${this.next - 1}`);
    if (words !== this.words) {
      this.words = words;
      this.bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    }
    this.pending.add(this.bytes, (record + 4) * 4, length);
    this.next++;
  }

  /** Strings since the last call. */
  drain(): EncodedStrings {
    this.words = null;
    this.bytes = NO_BYTES;
    return this.pending.take();
  }

  /** Nobody reads what `drain` returned any more. */
  release(strings: EncodedStrings): void {
    this.pending.release(strings);
  }
}
