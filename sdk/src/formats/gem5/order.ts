/** The instructions of a log in the order of time: the log has them in the order of their ends. */
import { Gem5Block, STAGES } from './block.js';
import { DebugFacts } from './facts.js';
import type { Gem5Reader, Gem5Visitor } from './reader.js';
import { endOf, type Gem5Summary } from './summary.js';
import { TickHeap } from './tick-heap.js';
import { Moment, Timeline } from './timeline.js';
import type { Gem5Instruction } from './types.js';

/** An instruction between its fetch and its end. */
export interface Flight {
  readonly block: Gem5Block;
  /** Number of the instruction, in the order of fetches. */
  id: number;
  /** Object of its CPU; null: the log does not say. */
  cpu: string | null;
  readonly timeline: Timeline;
  /** As it was known with its block; Infinity: the log has no end. */
  end: number;
  /** What the visitor knows it by; -1: nothing yet. */
  slot: number;
}

export interface OrderVisitor {
  /** Whether `push` of the output is due. */
  readonly isFull: boolean;
  /** The same before something happens at `tick`. */
  isFullBefore(tick: number): boolean;
  born(flight: Flight): void;
  /** @param moment a stage, or one of `Moment` */
  happens(flight: Flight, tick: number, moment: number): void;
}

/** What takes a log in its order, and makes something of it in the order of time. */
export interface Order extends Gem5Visitor {
  /** What is known to be complete, until the output is full. @returns whether something is left */
  advance(): boolean;
  /** After the last instruction. @returns whether something is left */
  finish(): boolean;
}

/** Windows after that of an instruction which are read before it begins, since lines about it may follow. */
const LATE_WINDOWS = 8;

/** Takes a log in its order, and gives what happens in the order of time. */
export class InOrder implements Order {
  readonly facts = new DebugFacts();
  private readonly waiting = new TickHeap<Flight>();
  private readonly flying = new TickHeap<Flight>();
  private readonly unused: Flight[] = [];
  /** Its block is being filled by the reader. */
  private reserved: Flight | null = null;
  private read = 0;
  private born = 0;
  private limit = 0;

  constructor(
    private readonly summary: Gem5Summary,
    private readonly visitor: OrderVisitor,
    /** Called with lines that say nothing of an instruction. */
    private readonly onOther?: () => void,
    private readonly onEarly?: () => void,
  ) {}

  /** Room for another instruction is made by `advance`. */
  get isFull(): boolean {
    return this.visitor.isFull || this.waiting.next < this.limit;
  }

  instruction(block: Gem5Block): Gem5Block {
    const flight = this.reserved?.block === block ? this.reserved : flightWith(block);
    flight.end = endOf(block, this.facts);
    this.waiting.push(block.ticks[0], this.read++, flight);
    const { window, leastFrom } = this.summary;
    if (this.read % window === 0)
      this.limit = leastFrom[Math.max(0, this.read / window - LATE_WINDOWS)] ?? this.limit;
    this.reserved = this.unused.pop() ?? flightWith(new Gem5Block());
    return this.reserved.block;
  }

  other(line: string): void {
    if (!this.facts.take(line)) this.onOther?.();
  }

  early(): void {
    this.onEarly?.();
  }

  advance(): boolean {
    return this.until(this.limit);
  }

  finish(): boolean {
    return this.until(Number.POSITIVE_INFINITY);
  }

  private until(limit: number): boolean {
    const { waiting, flying, visitor } = this;
    for (;;) {
      const isBirth = waiting.next < flying.next;
      const tick = isBirth ? waiting.next : flying.next;
      if (tick >= limit) return false;
      if (visitor.isFullBefore(tick)) return true;
      if (isBirth) this.begin(waiting.pop());
      else this.step(flying.top, tick);
    }
  }

  private begin(flight: Flight): void {
    const { block, timeline } = flight;
    flight.id = this.born++;
    flight.slot = -1;
    flight.cpu = this.facts.taken === 0 && block.object === '' ? null : this.facts.cpuOf(block);
    timeline.fill(block, flight.end, this.facts, flight.cpu);
    this.visitor.born(flight);
    this.happen(flight, timeline.ticks[0]);
    if (timeline.at < timeline.count) this.flying.push(timeline.ticks[timeline.at], flight.id, flight);
    else this.unused.push(flight);
  }

  private step(flight: Flight, tick: number): void {
    const { timeline } = flight;
    this.happen(flight, tick);
    if (timeline.at < timeline.count) this.flying.delay(timeline.ticks[timeline.at]);
    else {
      this.flying.pop();
      this.unused.push(flight);
    }
  }

  private happen(flight: Flight, tick: number): void {
    const { timeline } = flight;
    while (timeline.at < timeline.count && timeline.ticks[timeline.at] === tick)
      this.visitor.happens(flight, tick, timeline.moments[timeline.at++]);
  }
}

function flightWith(block: Gem5Block): Flight {
  return { block, id: 0, cpu: null, timeline: new Timeline(), end: 0, slot: -1 };
}

/**
 * Visits a log in the order of time. Yields when the visitor is full, and now and then. Memory is that of the instructions in flight and of as many
 * as the log has them out of order.
 * @throws UscopeError as `Gem5Reader.visit`, after everything before the cut
 */
export async function* visitInOrder(reader: Gem5Reader, order: Order): AsyncGenerator<void> {
  let failure: unknown;
  try {
    for await (const _ of reader.visit(order)) {
      while (order.advance()) yield;
      yield;
    }
  } catch (error) {
    failure = error;
  }
  while (order.finish()) yield;
  if (failure !== undefined) throw failure;
}

/** What happens to an instruction at a tick. */
export interface Gem5Event {
  readonly time: number;
  readonly instruction: Gem5Instruction;
  /** Number of the instruction, in the order of fetches. */
  readonly id: number;
  /** Index into GEM5_STAGES; -1: it is squashed. */
  readonly stage: number;
}

/** Events in a batch of `inOrder`. */
const BATCH = 4096;

/** Stages and squashes in the order of time, as objects. @throws UscopeError as `visitInOrder` */
export async function* inOrder(reader: Gem5Reader, summary: Gem5Summary): AsyncGenerator<Gem5Event[]> {
  let batch: Gem5Event[] = [];
  const copies = new Map<number, Gem5Instruction>();
  const isFull = (): boolean => batch.length >= BATCH;
  const visitor: OrderVisitor = {
    get isFull() {
      return isFull();
    },
    isFullBefore: isFull,
    born: ({ id, block }) => void copies.set(id, block.copy()),
    happens: ({ id, timeline }, time, moment) => {
      const instruction = copies.get(id)!;
      if (moment < STAGES) batch.push({ time, instruction, id, stage: moment });
      else if (moment === Moment.SQUASH) batch.push({ time, instruction, id, stage: -1 });
      if (timeline.at === timeline.count) copies.delete(id);
    },
  };
  const taken = (): Gem5Event[] => {
    const whole = batch;
    batch = [];
    return whole;
  };
  let failure: unknown;
  try {
    for await (const _ of visitInOrder(reader, new InOrder(summary, visitor)))
      if (batch.length > 0) yield taken();
  } catch (error) {
    failure = error;
  }
  if (batch.length > 0) yield taken();
  if (failure !== undefined) throw failure;
}
