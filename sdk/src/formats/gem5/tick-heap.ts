/** A binary heap by tick, and by order where ticks are equal; without an object for an entry. */

export class TickHeap<T> {
  private ticks = new Float64Array(256);
  private orders = new Float64Array(256);
  /** Those from `size` on are left from before. */
  private readonly values: T[] = [];
  size = 0;

  /** Of the least; Infinity when there is none. */
  get next(): number {
    return this.size > 0 ? this.ticks[0] : Number.POSITIVE_INFINITY;
  }

  /** The least. There must be one. */
  get top(): T {
    return this.values[0];
  }

  push(tick: number, order: number, value: T): void {
    if (this.size === this.ticks.length) {
      this.ticks = grown(this.ticks);
      this.orders = grown(this.orders);
    }
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isAfter(parent, tick, order)) break;
      this.move(parent, at);
      at = parent;
    }
    this.put(at, tick, order, value);
  }

  pop(): T {
    const top = this.values[0];
    const last = --this.size;
    const value = this.values[last];
    if (last > 0) this.sink(this.ticks[last], this.orders[last], value);
    return top;
  }

  /** The least gets a later tick. */
  delay(tick: number): void {
    this.sink(tick, this.orders[0], this.values[0]);
  }

  /** From the top to where it belongs. */
  private sink(tick: number, order: number, value: T): void {
    let at = 0;
    for (let child = 1; child < this.size; child = 2 * at + 1) {
      const right = child + 1;
      if (right < this.size && this.isAfter(child, this.ticks[right], this.orders[right])) child = right;
      if (this.isAfter(child, tick, order)) break;
      this.move(child, at);
      at = child;
    }
    this.put(at, tick, order, value);
  }

  private isAfter(at: number, tick: number, order: number): boolean {
    return this.ticks[at] > tick || (this.ticks[at] === tick && this.orders[at] > order);
  }

  private move(from: number, to: number): void {
    this.put(to, this.ticks[from], this.orders[from], this.values[from]);
  }

  private put(at: number, tick: number, order: number, value: T): void {
    this.ticks[at] = tick;
    this.orders[at] = order;
    this.values[at] = value;
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(2 * values.length);
  more.set(values);
  return more;
}
