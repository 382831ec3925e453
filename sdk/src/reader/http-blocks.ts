/** Blocks of a file that were fetched lately, up to a bound of bytes; the one longest unused goes first. */
export class BlockCache {
  private readonly blocks = new Map<number, Uint8Array>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  has(index: number): boolean {
    return this.blocks.has(index);
  }

  get(index: number): Uint8Array | undefined {
    const block = this.blocks.get(index);
    if (!block) return undefined;
    this.blocks.delete(index);
    this.blocks.set(index, block);
    return block;
  }

  /** Keeps a copy: a view would keep all that was fetched with it. */
  add(index: number, block: Uint8Array): void {
    this.remove(index);
    this.blocks.set(index, block.slice());
    this.bytes += block.byteLength;
    for (const oldest of this.blocks.keys()) {
      if (this.bytes <= this.maxBytes || oldest === index) break;
      this.remove(oldest);
    }
  }

  clear(): void {
    this.blocks.clear();
    this.bytes = 0;
  }

  private remove(index: number): void {
    this.bytes -= this.blocks.get(index)?.byteLength ?? 0;
    this.blocks.delete(index);
  }
}
