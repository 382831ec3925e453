/** Answers, by what was asked: as many bytes of them as allowed, those used last. */
export class AnswerCache {
  private readonly entries = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  private used = 0;

  constructor(private readonly maxBytes: number) {}

  /** Bytes of the answers kept. */
  get bytes(): number {
    return this.used;
  }

  get(key: string): { readonly value: unknown } | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry;
  }

  /** One that alone is larger than allowed is not kept. */
  put(key: string, value: unknown, bytes: number): void {
    this.remove(key);
    if (bytes > this.maxBytes) return;
    this.entries.set(key, { value, bytes });
    this.used += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.used <= this.maxBytes) return;
      this.remove(oldest);
    }
  }

  clear(): void {
    this.entries.clear();
    this.used = 0;
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.used -= entry.bytes;
  }
}
