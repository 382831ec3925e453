/** Deduplicates strings with bounded memory: best effort, forgets the older half when full. */
const MAX_ENTRIES = 32_768;
const MAX_CHARS = 4 * 1024 * 1024;

export class StringCache {
  private young = new Map<string, number>();
  private old = new Map<string, number>();
  private chars = 0;

  get(text: string): number | undefined {
    const index = this.young.get(text) ?? this.old.get(text);
    if (index !== undefined && !this.young.has(text)) this.set(text, index);
    return index;
  }

  set(text: string, index: number): void {
    this.young.set(text, index);
    this.chars += text.length;
    if (this.young.size < MAX_ENTRIES && this.chars < MAX_CHARS) return;
    this.old = this.young;
    this.young = new Map();
    this.chars = 0;
  }
}
