/** Entity ids: slots of the catalog. A slot that was given back is used again when time has moved on, the one longest free first. */
export class SlotPool {
  private readonly free: number[] = [];
  private head = 0;
  private next = 0;
  private readonly ended: number[] = [];

  constructor(private readonly size: number) {}

  /** -1: all are taken. */
  take(): number {
    if (this.next < this.size) return this.next++;
    const slot = this.free[this.head];
    if (slot === undefined) return -1;
    this.head++;
    return slot;
  }

  giveBack(slot: number): void {
    this.ended.push(slot);
  }

  /** Time has moved on. */
  settle(): void {
    if (this.head > 1024) this.free.splice(0, this.head);
    if (this.head > 1024) this.head = 0;
    for (const slot of this.ended) this.free.push(slot);
    this.ended.length = 0;
  }
}
