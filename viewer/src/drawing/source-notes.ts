/** What the page says of addresses, written beside their instructions; and which addresses it has not spoken of yet. */

const MAX_KEPT = 65_536;

export class SourceNotes {
  private readonly texts = new Map<string, string>();
  private wanted = new Set<string>();
  /** A program was given. */
  private isOn = false;

  /** @param pc hexadecimal, as rows show it */
  of(pc: string): string {
    const key = pc.replace(/^0+(?=.)/, '');
    const text = this.texts.get(key);
    if (text === undefined && this.isOn) this.wanted.add(key);
    return text ?? '';
  }

  add(texts: readonly (readonly [string, string])[]): void {
    this.isOn = true;
    if (this.texts.size > MAX_KEPT) this.texts.clear();
    for (const [key, text] of texts) this.texts.set(key, text);
  }

  /** Those that a picture needed and that are not known; each once. */
  takeWanted(): string[] {
    const keys = [...this.wanted];
    this.wanted = new Set();
    for (const key of keys) this.texts.set(key, '');
    return keys;
  }
}
