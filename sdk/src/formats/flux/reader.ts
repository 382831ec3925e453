/** flux files from front to end: linear, compressed, and ring buffers from their oldest section on. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { ByteSource } from '../../codecs/byte-source.js';
import { FluxCursor, isMagic } from './cursor.js';
import { decodeEntry } from './entries.js';
import { type FluxEntry, FluxTag, MAGIC } from './types.js';

export interface FluxReadOptions {
  /**
   * Continues after damage at the next head, as in streams that were joined in the middle; called with what was skipped. Without it damage is
   * an error.
   */
  readonly onSkip?: ((from: number, to: number, reason: UscopeError) => void) | undefined;
}

const READ_BYTES = 256 * 1024;
const SECTION_HEADER_BYTES = 7;
const LAST_SECTION = 0x80;
const MAX_SECTIONS = 1 << 20;

/** A file whose entries may be gone through any number of times. */
export class FluxFile {
  constructor(readonly source: ByteSource) {}

  /** The entries as a stream without allocations per sample. */
  async stream(options: FluxReadOptions = {}): Promise<FluxStream> {
    return new FluxStream(this.source, await this.source.size(), options);
  }

  /** The entries as objects, those in blocks and sections too. @throws UscopeError CONVERT_*, with the offset in the file */
  async *entries(options: FluxReadOptions = {}): AsyncGenerator<FluxEntry> {
    const stream = await this.stream(options);
    while (await stream.more()) while (stream.next()) yield decodeEntry(stream.cursor);
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }
}

interface Section {
  readonly offset: number;
  readonly used: number;
  readonly counter: number;
}

/**
 * Entries one after the other; memory is that of a piece of the file and of the block it is in.
 *
 *   while (await stream.more()) while (stream.next()) use(stream.cursor);
 */
export class FluxStream {
  readonly cursor = new FluxCursor();
  /** Of the ring buffer that is gone through: numbers of its sections from the oldest on. */
  sectionOrder: readonly number[] = [];
  /** Entry index is that of the file: bytes of the file that have been read. */
  position = 0;
  private sections: Section[] = [];
  private isRingDue = false;
  private isRing = false;
  private nextSection = 0;
  private isExhausted = true;
  /** Where damage began; -1: none that is being passed over. */
  private damageAt = -1;
  private damage: UscopeError | null = null;
  private isAtEnd = false;

  constructor(
    private readonly source: ByteSource,
    private readonly size: number,
    private readonly options: FluxReadOptions,
  ) {}

  /** Part of the file that has been read, 0 to 1. */
  get part(): number {
    return this.size === 0 ? 1 : Math.min(1, this.position / this.size);
  }

  /**
   * Brings more bytes; false at the end of the file.
   * @throws UscopeError CONVERT_TRUNCATED when the file ends inside an entry or a ring buffer
   */
  async more(): Promise<boolean> {
    if (!this.isExhausted) return true;
    if (this.cursor.isPacked && (await this.inflate())) return true;
    if (this.isRing) return this.moreOfRing();
    const { cursor } = this;
    const rest = cursor.rest;
    const restOffset = cursor.restOffset;
    const wanted = Math.max(cursor.needed, rest.length + 1, READ_BYTES);
    const end = Math.min(this.size, restOffset + wanted);
    const got = restOffset + rest.length;
    if (got >= end) return this.atEnd(restOffset, rest.length);
    // The rest is read again: entries are small next to what is read at once.
    const bytes = await this.source.read(restOffset, end - restOffset);
    if (bytes.length <= rest.length) return this.atEnd(restOffset, rest.length);
    cursor.feed(bytes, restOffset);
    this.position = restOffset + bytes.length;
    this.isExhausted = false;
    return true;
  }

  /** Unpacks the block that comes next; false when damage of it was passed over and nothing is left of what is there. */
  private async inflate(): Promise<boolean> {
    this.isExhausted = false;
    try {
      await this.cursor.inflate();
    } catch (error) {
      this.passOver(error);
    }
    return !this.isExhausted;
  }

  /** To the next entry of what is there. @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED */
  next(): boolean {
    if (this.isRingDue) return this.beginRing();
    if (this.damageAt >= 0 && !this.findHead()) return this.exhausted();
    if (this.isRing && !this.cursor.isInSection) return this.exhausted();
    try {
      if (!this.cursor.next()) return this.exhausted();
      if (this.cursor.tag === FluxTag.SECT) this.addSection();
      else if (this.sections.length > 0 && !this.isRing) {
        this.cursor.fail('a ring buffer ends without its last section');
      }
      return true;
    } catch (error) {
      return this.passOver(error);
    }
  }

  private exhausted(): false {
    this.isExhausted = true;
    return false;
  }

  private addSection(): void {
    const { cursor, sections } = this;
    const [counter, size, used] = cursor.numbers;
    if (used > size) cursor.fail(`a section of ${size} bytes uses ${used}`);
    if (sections.length >= MAX_SECTIONS) cursor.fail(`${MAX_SECTIONS} sections`, 'CONVERT_LIMIT');
    const offset = cursor.offset + SECTION_HEADER_BYTES;
    sections.push({ offset, used, counter: counter & ~LAST_SECTION });
    this.isRingDue = (counter & LAST_SECTION) !== 0;
  }

  /** The oldest section is the first one that was not written in the same round as section 0. */
  private beginRing(): true {
    const { sections } = this;
    const oldest = Math.max(
      0,
      sections.findIndex(({ counter }) => counter !== sections[0].counter),
    );
    this.sectionOrder = sections.map((_, index) => (oldest + index) % sections.length);
    this.cursor.tag = FluxTag.RING;
    this.isRingDue = false;
    this.isRing = true;
    this.nextSection = 0;
    return true;
  }

  private async moreOfRing(): Promise<boolean> {
    while (this.nextSection < this.sectionOrder.length) {
      const { offset, used, counter } = this.sections[this.sectionOrder[this.nextSection++]];
      if (used === 0 || counter === 0) continue;
      const bytes = await this.source.read(offset, used);
      if (bytes.length < used) throw this.cut(offset + bytes.length, 'a section');
      this.cursor.section(bytes, offset);
      this.isExhausted = false;
      return true;
    }
    this.cursor.endSection();
    this.sections = [];
    this.isRing = this.isExhausted = false;
    return true;
  }

  private atEnd(offset: number, left: number): boolean {
    if (this.sections.length > 0 && !this.isAtEnd) {
      // What there is of the ring buffer is shown before it is said that there is not all of it.
      this.isRingDue = this.isAtEnd = true;
      this.isExhausted = false;
      return true;
    }
    if (this.damageAt >= 0) {
      this.options.onSkip?.(this.damageAt, this.size, this.damage!);
      return false;
    }
    if (left === 0 && !this.isAtEnd && this.cursor.entries > 0) return false;
    const error = this.cut(
      offset,
      this.isAtEnd ? 'a ring buffer' : left > 0 ? 'an entry' : 'the first entry',
    );
    if (left <= 1 || !this.options.onSkip) throw error;
    // What looks like a large entry may be damage with a head after it.
    this.passOver(error);
    this.isExhausted = false;
    return true;
  }

  private cut(offset: number, what: string): UscopeError {
    return new UscopeError('CONVERT_TRUNCATED', `the file ends inside ${what}`, {
      file: this.source.name,
      offset,
    });
  }

  /** Damage ends a section; elsewhere the next head is looked for. */
  private passOver(error: unknown): false {
    if (!isUscopeError(error)) throw error;
    if (!this.options.onSkip) throw error.at({ file: this.source.name });
    const { cursor } = this;
    const offset = cursor.offset;
    cursor.skip(0);
    if (cursor.isInSection) {
      const rest = cursor.rest.length;
      cursor.skip(rest);
      this.options.onSkip(offset, offset + rest, error);
      return this.exhausted();
    }
    this.sections = [];
    this.isRingDue = false;
    this.damageAt = offset;
    this.damage = error;
    // Right after the place of the damage, unless that was in a block, which has been left.
    if (cursor.restOffset === offset) cursor.skip(1);
    if (this.findHead()) return this.again();
    return this.exhausted();
  }

  /** `next` was about to say that there is nothing, but there is a head. */
  private again(): false {
    this.isExhausted = false;
    return false;
  }

  private findHead(): boolean {
    const { cursor } = this;
    const { rest } = cursor;
    const at = indexOfMagic(rest);
    if (at < 0) {
      // A head may begin in the last bytes.
      cursor.skip(Math.max(0, rest.length - MAGIC.length + 1));
      cursor.needed = MAGIC.length;
      return false;
    }
    cursor.skip(at);
    this.options.onSkip?.(this.damageAt, cursor.restOffset, this.damage!);
    this.damageAt = -1;
    this.damage = null;
    return true;
  }
}

/** -1: nowhere. */
function indexOfMagic(bytes: Uint8Array): number {
  const last = bytes.length - MAGIC.length;
  for (let at = bytes.indexOf(MAGIC[0]); at >= 0 && at <= last; at = bytes.indexOf(MAGIC[0], at + 1)) {
    if (isMagic(bytes, at)) return at;
  }
  return -1;
}
