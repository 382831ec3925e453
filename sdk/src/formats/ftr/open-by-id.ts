/**
 * What is open, by ids of 64 bits: a table with linear probing. A Map makes a new table after some number of changes, however few entries it has; the
 * garbage collector keeps what the former tables refer to, which is everything that came and went.
 */

const FIRST_PLACES = 64;

export class OpenById<T> {
  size = 0;
  private los = new Uint32Array(FIRST_PLACES);
  private his = new Uint32Array(FIRST_PLACES);
  private values: (T | undefined)[] = new Array(FIRST_PLACES).fill(undefined);
  /** When the id came. */
  private serials = new Float64Array(FIRST_PLACES);
  private nextSerial = 0;
  private mask = FIRST_PLACES - 1;
  /** By chance, so that no file can have ids that all belong to one place. */
  private readonly factors = [oddNumber(), oddNumber()] as const;

  get(lo: number, hi: number): T | undefined {
    return this.values[this.placeOf(lo, hi)];
  }

  /** Another value of a known id takes its place in the order. */
  set(lo: number, hi: number, value: T): void {
    let place = this.placeOf(lo, hi);
    if (this.values[place] === undefined) {
      if (2 * (this.size + 1) > this.mask) {
        this.grow();
        place = this.placeOf(lo, hi);
      }
      this.size++;
      this.put(place, lo, hi, this.nextSerial++);
    }
    this.values[place] = value;
  }

  delete(lo: number, hi: number): void {
    const { values, mask } = this;
    let hole = this.placeOf(lo, hi);
    if (values[hole] === undefined) return;
    this.size--;
    // Those after it move up, as far as they may.
    for (let place = (hole + 1) & mask; values[place] !== undefined; place = (place + 1) & mask) {
      const home = this.homeOf(this.los[place], this.his[place]);
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
      this.put(hole, this.los[place], this.his[place], this.serials[place]);
      values[hole] = values[place];
      hole = place;
    }
    values[hole] = undefined;
  }

  /** In the order in which their ids came. */
  inOrder(): T[] {
    const { values, serials } = this;
    const places = [...values.keys()].filter((place) => values[place] !== undefined);
    return places.sort((a, b) => serials[a] - serials[b]).map((place) => values[place] as T);
  }

  clear(): void {
    this.values.fill(undefined);
    this.size = 0;
  }

  /** Where it is, or is to be put. */
  private placeOf(lo: number, hi: number): number {
    const { los, his, values, mask } = this;
    let place = this.homeOf(lo, hi);
    while (values[place] !== undefined && (los[place] !== lo || his[place] !== hi))
      place = (place + 1) & mask;
    return place;
  }

  private homeOf(lo: number, hi: number): number {
    const mixed = Math.imul(lo, this.factors[0]) ^ Math.imul(hi, this.factors[1]);
    return (mixed ^ (mixed >>> 15)) & this.mask;
  }

  private put(place: number, lo: number, hi: number, serial: number): void {
    this.los[place] = lo;
    this.his[place] = hi;
    this.serials[place] = serial;
  }

  private grow(): void {
    const { los, his, values, serials } = this;
    const places = 2 * values.length;
    this.los = new Uint32Array(places);
    this.his = new Uint32Array(places);
    this.values = new Array(places).fill(undefined);
    this.serials = new Float64Array(places);
    this.mask = places - 1;
    for (const [from, value] of values.entries()) {
      if (value === undefined) continue;
      const to = this.placeOf(los[from], his[from]);
      this.put(to, los[from], his[from], serials[from]);
      this.values[to] = value;
    }
  }
}

function oddNumber(): number {
  return Math.floor(Math.random() * 2 ** 31) * 2 + 1;
}
