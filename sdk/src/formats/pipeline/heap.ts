/** A binary heap: the least first; equal ones in the order in which they came. */
export class Heap<T extends { readonly time: number }> {
  private readonly items: { readonly value: T; readonly order: number }[] = [];
  private pushed = 0;

  get size(): number {
    return this.items.length;
  }

  /** Time of the least; Infinity when there is none. */
  get next(): number {
    return this.items[0]?.value.time ?? Number.POSITIVE_INFINITY;
  }

  push(value: T): void {
    const { items } = this;
    items.push({ value, order: this.pushed++ });
    for (let at = items.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (!top || !last) return undefined;
    if (items.length > 0) {
      items[0] = last;
      this.sink();
    }
    return top.value;
  }

  private sink(): void {
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.items.length && this.isBefore(child, least)) least = child;
      }
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [x, y] = [this.items[a], this.items[b]];
    if (!x || !y) return false;
    return x.value.time < y.value.time || (x.value.time === y.value.time && x.order < y.order);
  }

  private swap(a: number, b: number): void {
    const { items } = this;
    [items[a], items[b]] = [items[b], items[a]];
  }
}
