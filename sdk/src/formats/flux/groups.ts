/** What a trace of a file defines so far, and where each of its open groups is in time. */

/** A group is opened by the id of a scope or signal and holds everything below it that has no nearer open group. */
export class FluxGroup {
  /** Position as the halves of a signed 64-bit number. */
  lo = 0;
  hi = 0;

  constructor(
    /** 0: all items. */
    readonly id: number,
    /** As given, or the trace's default; empty: none was ever named. */
    readonly domain: string,
    start: bigint,
  ) {
    this.moveTo(start);
  }

  get position(): bigint {
    return (BigInt(this.hi | 0) << 32n) | BigInt(this.lo >>> 0);
  }

  /** Inexact beyond 2^53. */
  get positionNumber(): number {
    return (this.hi | 0) * 2 ** 32 + (this.lo >>> 0);
  }

  moveTo(position: bigint): void {
    this.lo = Number(BigInt.asUintN(32, position));
    this.hi = Number(BigInt.asIntN(32, position >> 32n));
  }

  /** Goes on by an unsigned number; false when that leads past 64 bits. */
  advance(lo: number, hi: number): boolean {
    const low = (this.lo >>> 0) + lo;
    const high = (this.hi | 0) + hi + (low > 0xffff_ffff ? 1 : 0);
    if (high > 0x7fff_ffff) return false;
    this.lo = low >>> 0;
    this.hi = high;
    return true;
  }
}

const CACHED = 4096;

export class FluxTrace {
  /** A head of mode 1 was the last one: what is defined and opened after it repeats what is known. */
  isSync = false;
  domain = '';
  readonly groups = new Map<number, FluxGroup>();
  private readonly parents = new Map<number, number>();
  private readonly types = new Map<number, number>();
  /** Of MSGD: from, to, parent, type. */
  private readonly ranges: (readonly [number, number, number, number])[] = [];
  private cache: (FluxGroup | null | undefined)[] = [];

  constructor(
    readonly id: number,
    readonly name: string,
    readonly version: number,
  ) {}

  define(id: number, parent: number, type: number): void {
    this.parents.set(id, parent);
    this.types.set(id, type);
    this.cache = [];
  }

  defineRange(from: number, to: number, parent: number, type: number): void {
    if (!this.ranges.some(([f, t, p, y]) => f === from && t === to && p === parent && y === type)) {
      this.ranges.push([from, to, parent, type]);
    }
    this.cache = [];
  }

  /** Type of a signal; -1 when it was not defined. */
  typeOf(id: number): number {
    const type = this.types.get(id);
    if (type !== undefined) return type;
    return this.rangeOf(id)?.[3] ?? -1;
  }

  /** Id of the scope that holds an item; undefined: unknown, or the item is the root. */
  parentOf(id: number): number | undefined {
    return this.parents.get(id) ?? this.rangeOf(id)?.[2];
  }

  /** The group that an item belongs to; null when it is not open. */
  groupOf(id: number): FluxGroup | null {
    const cached = id < CACHED ? this.cache[id] : undefined;
    if (cached !== undefined) return cached;
    const group = this.findGroup(id);
    if (id < CACHED) this.cache[id] = group;
    return group;
  }

  open(id: number, domain: string, start: bigint): FluxGroup {
    const known = this.groups.get(id);
    if (known && this.isSync) return known;
    const group = new FluxGroup(id, domain || this.domain, start);
    this.groups.set(id, group);
    this.cache = [];
    return group;
  }

  /** 0 closes everything unless it was opened itself. */
  close(id: number): void {
    if (!this.groups.delete(id) && id === 0) this.groups.clear();
    this.cache = [];
  }

  private findGroup(id: number): FluxGroup | null {
    const { groups } = this;
    if (groups.size === 0) return null;
    let at: number | undefined = id;
    // Parents of damaged files may go in circles.
    for (let steps = 0; at !== undefined && at !== 0 && steps < 1000; steps++) {
      const group = groups.get(at);
      if (group) return group;
      at = this.parentOf(at);
    }
    return groups.get(0) ?? null;
  }

  private rangeOf(id: number): readonly [number, number, number, number] | undefined {
    return this.ranges.find(([from, to]) => id >= from && id <= to);
  }
}
