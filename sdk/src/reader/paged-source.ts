/** A window of a source, read in pages that are kept while they are used: for tables too large to hold and read here and there. */
import { UscopeError } from '../base/errors.js';
import type { CheckedSource } from './source.js';

const PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 256;
const NO_PAGE: Page = { first: -1, bytes: new Uint8Array(0) };

interface Page {
  readonly first: number;
  readonly bytes: Uint8Array;
}

export class PagedSource {
  private readonly pages = new Map<number, Uint8Array>();
  /** The two pages used last, which are found without waiting: the entries of a table and what they point to. */
  private recent: Page[] = [NO_PAGE, NO_PAGE];

  /** The window `[start, start + size)` of the file; `what` names it in errors. */
  constructor(
    private readonly source: CheckedSource,
    readonly start: number,
    readonly size: number,
    private readonly what: string,
  ) {}

  /** The bytes if they are in one of the pages used last, else null. */
  peek(offset: number, length: number): Uint8Array | null {
    const number = Math.floor(offset / PAGE_BYTES);
    const at = offset - number * PAGE_BYTES;
    for (const { first, bytes } of this.recent)
      if (first === number && at + length <= bytes.byteLength) return bytes.subarray(at, at + length);
    return null;
  }

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
    if (this.recent[0].first !== number) this.recent = [{ first: number, bytes: page }, this.recent[0]];
    if (this.pages.size > MAX_PAGES) this.pages.delete(this.pages.keys().next().value!);
    return page;
  }
}
