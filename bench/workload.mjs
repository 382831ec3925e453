// @ts-check
/**
 * The TypeScript twin of workload.h: the identical items, for the writer as a library. Both are held against each other, record by
 * record, in bench.test.ts.
 */

/**
 * Where the items go. Ids are those of workload.yaml; values are below 2^53.
 * @typedef {object} Sink
 * @property {(timePs: number) => void} begin
 * @property {() => void} end
 * @property {(storage: number, slot: number, field: number, value: number) => void} set
 * @property {(storage: number, slot: number) => void} clear
 * @property {(storage: number, slot: number, field: number, delta: number) => void} add
 * @property {(storage: number, property: number, value: number) => void} prop
 * @property {(entity: number, stage: number) => void} stage event stage_transition
 * @property {(entity: number, reason: number) => void} flush event flush
 */

const SLOTS = 512;
const ENTITIES = 0;
const COMMITTED = 1;
const MISSES = 2;
const ROB = 3;
const PERIOD_PS = 1000;
const FIRST_PC = 0x8000_0000;
/** Of the ooo model: instructions in flight at most, looked at in a cycle, retired in a cycle; the last stage. */
const WINDOW = 224;
const WALK = 24;
const RETIRE_WIDTH = 4;
const LAST_STAGE = 7;

/** Marsaglia's xorshift over 64 bits (13, 7, 17), in two halves: numbers do not hold 64 bits, and BigInts would be what is measured. */
class Random {
  hi = 0;
  lo = 0;

  /** @param {bigint} seed */
  constructor(seed) {
    this.hi = Number(seed >> 32n) >>> 0;
    this.lo = Number(seed & 0xffff_ffffn) >>> 0;
  }

  step() {
    let { hi, lo } = this;
    hi ^= (hi << 13) | (lo >>> 19);
    lo ^= lo << 13;
    lo ^= (lo >>> 7) | (hi << 25);
    hi ^= hi >>> 7;
    hi ^= (hi << 17) | (lo >>> 15);
    lo ^= lo << 17;
    this.hi = hi >>> 0;
    this.lo = lo >>> 0;
  }

  /** @param {number} mask of less than 32 bits */
  masked(mask) {
    this.step();
    return this.lo & mask;
  }

  /** @param {3 | 5} divisor both divide 2^32 - 1, hence 2^32 counts as 1 */
  modulo(divisor) {
    this.step();
    return ((this.hi % divisor) + (this.lo % divisor)) % divisor;
  }
}

/** What both workloads draw instructions from. */
class Program {
  random = new Random(88172645463325252n);
  instructions = new Uint32Array(64);
  pc = FIRST_PC;

  constructor() {
    for (let i = 0; i < this.instructions.length; i++) {
      this.random.step();
      this.instructions[i] = this.random.lo | 3;
    }
  }

  /** One in eight instructions is a jump. */
  next() {
    const jumps = this.random.masked(7) === 0;
    this.pc = jumps ? FIRST_PC + this.random.masked(0xffff) * 4 : this.pc + 4;
    return this.pc;
  }

  instruction() {
    return this.instructions[this.random.masked(63)];
  }
}

/** 7 items in each cycle. */
class Std {
  program = new Program();
  cycle = 0;

  /**
   * The next cycle's items.
   * @param {Sink} sink
   * @returns {number} how many
   */
  step(sink) {
    const { random } = this.program;
    const i = this.cycle++;
    const id = i % SLOTS;
    const pc = this.program.next();
    const bits = this.program.instruction();
    const younger = 1 + random.masked(3);
    const older = 5 + random.modulo(3);
    sink.begin(i * PERIOD_PS);
    sink.set(ENTITIES, id, 0, id);
    sink.set(ENTITIES, id, 1, pc);
    sink.set(ENTITIES, id, 2, bits);
    sink.set(ENTITIES, id, 3, i & 255);
    sink.stage(id, younger);
    sink.stage((id + SLOTS - 6) % SLOTS, older);
    sink.add(COMMITTED, 0, 0, 1);
    sink.end();
    return 7;
  }
}

/** Allocation in order, 8 stages, random stalls: about 18 items per cycle. */
class Ooo {
  program = new Program();
  stages = new Uint8Array(SLOTS);
  cycle = 0;
  head = 0;
  tail = 0;
  count = 0;

  /**
   * The next cycle's items.
   * @param {Sink} sink
   * @returns {number} how many
   */
  step(sink) {
    sink.begin(this.cycle++ * PERIOD_PS);
    const wanted = this.program.random.modulo(5);
    const fetched = wanted === 4 ? 0 : wanted;
    let items = this.fetch(sink, fetched) + this.advance(sink) + this.retire(sink);
    if (fetched > 0) {
      sink.prop(ROB, 1, this.tail & 255);
      items++;
    }
    sink.end();
    return items;
  }

  /** @param {Sink} sink @param {number} most */
  fetch(sink, most) {
    let items = 0;
    for (let k = 0; k < most && this.count < WINDOW; k++) {
      const id = this.tail;
      this.tail = (id + 1) % SLOTS;
      this.count++;
      this.stages[id] = 0;
      sink.set(ENTITIES, id, 0, id);
      sink.set(ENTITIES, id, 1, this.program.next());
      sink.set(ENTITIES, id, 2, this.program.instruction());
      sink.set(ROB, id & 255, 0, id);
      sink.stage(id, 0);
      items += 5;
    }
    return items;
  }

  /** @param {Sink} sink */
  advance(sink) {
    let items = 0;
    const walk = Math.min(this.count, WALK);
    for (let k = 0; k < walk; k++) {
      const id = (this.head + k) % SLOTS;
      const stage = this.stages[id];
      if (stage >= LAST_STAGE || this.program.random.masked(1) === 0) continue;
      this.stages[id] = stage + 1;
      sink.stage(id, stage + 1);
      items++;
    }
    return items;
  }

  /** @param {Sink} sink */
  retire(sink) {
    let items = 0;
    let retired = 0;
    while (this.count > 0 && this.stages[this.head] === LAST_STAGE && retired < RETIRE_WIDTH) {
      if (this.program.random.masked(127) === 0) {
        sink.flush(this.head, 0);
        sink.add(MISSES, 0, 0, 1);
        items += 2;
      }
      sink.clear(ENTITIES, this.head);
      sink.clear(ROB, this.head & 255);
      items += 2;
      this.head = (this.head + 1) % SLOTS;
      this.count--;
      retired++;
    }
    if (retired === 0) return items;
    sink.add(COMMITTED, 0, 0, retired);
    sink.prop(ROB, 0, this.head & 255);
    return items + 2;
  }
}

/** @param {'std' | 'ooo'} name */
export function createWorkload(name) {
  return name === 'std' ? new Std() : new Ooo();
}
