/** A window of a source, read in pages that are kept while they are used: for tables too large to hold and read here and there. */
import { UscopeError } from '../base/errors.js';
import type { CheckedSource } from './source.js';

const PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 256;

export class PagedSource {
  private readonly pages = new Map<number, Uint8Array>();

  /** The window `[start, start + size)` of the file; `what` names it in errors. */
  constructor(
    private readonly source: CheckedSource,
    readonly start: number,
    readonly size: number,
    private readonly what: string,
  ) {}

  /** @throws UscopeError FORMAT_LENGTH when the range leaves the window. */
  async bytes(offset: number, length: number): Promise<Uint8Array> {
    if (offset + length > this.size) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `${this.what}: bytes ${offset} to ${offset + length} lie outside its ${this.size} bytes`,
        { offset: this.start + offset },
      );
    }
    if (length > PAGE_BYTES) return this.source.exactly(this.start + offset, length, this.what);
    const first = Math.floor(offset / PAGE_BYTES);
    const at = offset - first * PAGE_BYTES;
    const page = await this.page(first);
    if (at + length <= page.byteLength) return page.subarray(at, at + length);
    const joined = new Uint8Array(length);
    joined.set(page.subarray(at));
    joined.set((await this.page(first + 1)).subarray(0, at + length - PAGE_BYTES), PAGE_BYTES - at);
    return joined;
  }

  private async page(number: number): Promise<Uint8Array> {
    let page = this.pages.get(number);
    if (page) {
      this.pages.delete(number);
    } else {
      const offset = number * PAGE_BYTES;
      page = await this.source.exactly(
        this.start + offset,
        Math.min(PAGE_BYTES, this.size - offset),
        this.what,
      );
    }
    this.pages.set(number, page);
    if (this.pages.size > MAX_PAGES) this.pages.delete(this.pages.keys().next().value!);
    return page;
  }
}
