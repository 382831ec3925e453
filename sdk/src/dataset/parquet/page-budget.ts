/** What the tables of an export may hold unencoded, together: a trace may have hundreds of them. Large pages are read faster, and are smaller. */

const MOST_BYTES = 64 << 20;

export class PageBudget {
  private held = 0;

  constructor(private readonly most = MOST_BYTES) {}

  /** @returns false: there is not as much left */
  take(bytes: number): boolean {
    if (this.held + bytes > this.most) return false;
    this.held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }
}
