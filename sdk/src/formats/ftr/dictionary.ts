/** The texts of a file by their numbers, kept as the bytes they are. */
import { UscopeError } from '../../base/errors.js';
import type { FtrText } from './types.js';

/** All texts together; far more than any recording has been seen to hold. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Numbers that do not follow on: the format's usual writers have none. */
const MAX_STRAY = 1 << 20;
const MAX_DECODED = 1 << 16;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text that these bytes are; a copy of them when they are none. */
export function textOf(bytes: Uint8Array): FtrText {
  try {
    return decoder.decode(bytes);
  } catch {
    return bytes.slice();
  }
}

const looseDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** To be shown: what is not UTF-8 becomes U+FFFD. */
export function shownText(text: FtrText): string {
  return typeof text === 'string' ? text : looseDecoder.decode(text);
}

export class Dictionary {
  private bytes = new Uint8Array(4096);
  private length = 0;
  /** Where text `id` begins and its size, for 0 <= id < count. */
  private starts = new Uint32Array(256);
  private sizes = new Uint32Array(256);
  private count = 0;
  private readonly stray = new Map<number, Uint8Array>();
  private readonly decoded = new Map<number, FtrText>();

  /** Texts there are. */
  get size(): number {
    return this.count + this.stray.size;
  }

  /** A number that is given again has its newer text from then on. @throws UscopeError CONVERT_LIMIT */
  add(id: number, text: Uint8Array): void {
    if (id > this.count) this.addStray(id, text);
    else {
      this.append(text);
      if (id === this.count) this.extend();
      this.starts[id] = this.length - text.length;
      this.sizes[id] = text.length;
    }
    this.decoded.delete(id);
  }

  /** Undefined for a number without text. */
  get(id: number): FtrText | undefined {
    const known = this.decoded.get(id);
    if (known !== undefined) return known;
    const bytes = this.bytesOf(id);
    if (!bytes) return undefined;
    const text = textOf(bytes);
    if (this.decoded.size >= MAX_DECODED) this.decoded.clear();
    this.decoded.set(id, text);
    return text;
  }

  bytesOf(id: number): Uint8Array | undefined {
    const stray = this.stray.get(id);
    if (stray || id >= this.count) return stray;
    return this.bytes.subarray(this.starts[id], this.starts[id] + this.sizes[id]);
  }

  private addStray(id: number, text: Uint8Array): void {
    if (this.stray.size >= MAX_STRAY)
      throw new UscopeError('CONVERT_LIMIT', `more than ${MAX_STRAY} texts whose numbers do not follow on`);
    this.stray.set(id, text.slice());
  }

  private extend(): void {
    this.stray.delete(this.count);
    this.count++;
    if (this.count < this.starts.length) return;
    const [starts, sizes] = [this.starts, this.sizes];
    this.starts = new Uint32Array(starts.length * 2);
    this.sizes = new Uint32Array(starts.length * 2);
    this.starts.set(starts);
    this.sizes.set(sizes);
  }

  private append(text: Uint8Array): void {
    const needed = this.length + text.length;
    if (needed > MAX_BYTES)
      throw new UscopeError('CONVERT_LIMIT', `the texts of the file take more than ${MAX_BYTES} bytes`);
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.min(MAX_BYTES, Math.max(needed, this.bytes.length * 2)));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(text, this.length);
    this.length = needed;
  }
}
