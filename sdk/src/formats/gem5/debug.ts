/**
 * Lines of other debug flags (`TICK: OBJECT: TEXT`) that say something of an instruction: Rename, MemDepUnit, LSQUnit, and squashes of any unit; and
 * what they say, by CPU and sequence number. They may come before or after the lines of the instruction. Memory is bounded: what was said of the
 * oldest ones is forgotten, and counted.
 */
import { appendAll } from '../../base/arrays.js';
import { type Gem5Block, RENAME_STAGE } from './log.js';

/** What a line says. */
export type DebugFact =
  | { readonly kind: 'destination' | 'source'; readonly register: string }
  /** `on`: the sequence number of the store that it waits for. Where the line names the instruction by its address alone, `pc` does. */
  | { readonly kind: 'memory-order'; readonly on: number; readonly pc: number | null }
  | { readonly kind: 'memory-done' }
  /** A place of the load or store queue. */
  | { readonly kind: 'inserted' | 'executing'; readonly isStore: boolean; readonly index: number | null }
  | { readonly kind: 'address'; readonly isStore: boolean; readonly index: number; readonly address: bigint }
  | { readonly kind: 'squash' }
  /** Only whose it is. */
  | { readonly kind: 'named' };

export interface DebugLine {
  readonly tick: number;
  /** The unit: `system.cpu1.rename`. */
  readonly object: string;
  /** `system.cpu1`. */
  readonly cpu: string;
  /** Null: not in the line. */
  readonly thread: number | null;
  readonly seq: number | null;
  readonly fact: DebugFact;
}

const LINE = /^\s*(\d{1,15}): ([A-Za-z_][\w.]{0,200}): (.*)$/;
const CPU = /^(?:\w+\.)*?\w*cpus?\d*(?=\.|$)/;
const THREAD = /\[tid:(\d{1,5})\]/;
const SEQUENCE = /\[sn:(\d{1,15})\]/;
const DESTINATION = /Renaming arch reg \d+ \(([^)]*)\) to physical reg (\d{1,9})/;
const SOURCE = /Looking up (\w+) arch reg \d+, got phys reg (\d{1,9})/;
const ORDER = /(.*)dependent on \[sn:(\d{1,15})\]/;
const PC = /PC \(?0x([0-9a-fA-F]{1,13})\b/;
const QUEUE = /(Inserting|Executing) (load|store)\b(?:.*\bidx:? ?(\d{1,9}))?/;
const READ = /Read called, load idx:? ?(\d{1,9}).*\baddr:? ?0x([0-9a-fA-F]{1,16})\b/;
const WRITE = /Doing write to store idx:? ?(\d{1,9}).*\baddr:? ?0x([0-9a-fA-F]{1,16})\b/;

/** Names of the classes of registers, which differ between versions of gem5. */
const CLASSES: Readonly<Record<string, string>> = {
  int: 'integer',
  intreg: 'integer',
  integer: 'integer',
  float: 'float',
  floatreg: 'float',
  floating_point: 'float',
  floatingpoint: 'float',
  cc: 'condition',
  ccreg: 'condition',
  condition_code: 'condition',
};
/** They are not renamed: nobody waits for them. */
const UNRENAMED: ReadonlySet<string> = new Set(['invalid', 'misc', 'miscreg', 'miscellaneous']);

/** Null: another line. */
export function parseDebugLine(line: string): DebugLine | null {
  const match = LINE.exec(line);
  const cpu = CPU.exec(match?.[2] ?? '')?.[0];
  if (!match || cpu === undefined) return null;
  const [, tick, object, text] = match;
  const [thread, seq] = [numberAt(THREAD, text), numberAt(SEQUENCE, text)];
  const fact = factOf(text, seq);
  return fact && { tick: Number(tick), object, cpu, thread, seq, fact };
}

function factOf(text: string, seq: number | null): DebugFact | null {
  const order = ORDER.exec(text);
  if (order) return orderOf(order[1], Number(order[2]));
  const read = READ.exec(text);
  if (read) return addressOf(read, false);
  const write = WRITE.exec(text);
  if (write) return addressOf(write, true);
  if (seq === null) return null;
  const destination = DESTINATION.exec(text);
  if (destination) return registerOf('destination', destination);
  const source = SOURCE.exec(text);
  if (source) return registerOf('source', source);
  const queue = QUEUE.exec(text);
  if (queue) {
    const kind = queue[1] === 'Inserting' ? 'inserted' : 'executing';
    return { kind, isStore: queue[2] === 'store', index: queue[3] === undefined ? null : Number(queue[3]) };
  }
  if (text.includes('Completed mem instruction')) return { kind: 'memory-done' };
  if (/squash/i.test(text)) return { kind: 'squash' };
  return { kind: 'named' };
}

/** The instruction that waits is named before the words: by its number or by its address. */
function orderOf(before: string, on: number): DebugFact | null {
  const pc = PC.exec(before)?.[1];
  if (SEQUENCE.test(before)) return { kind: 'memory-order', on, pc: null };
  return pc === undefined ? null : { kind: 'memory-order', on, pc: Number.parseInt(pc, 16) };
}

function addressOf([, index, address]: RegExpExecArray, isStore: boolean): DebugFact {
  return { kind: 'address', isStore, index: Number(index), address: BigInt(`0x${address}`) };
}

function registerOf(kind: 'destination' | 'source', [, name, index]: RegExpExecArray): DebugFact {
  const plain = name.toLowerCase().replace(/class$/, '');
  if (UNRENAMED.has(plain)) return { kind: 'named' };
  return { kind, register: `${CLASSES[plain] ?? plain} ${Number(index)}` };
}

function numberAt(pattern: RegExp, text: string): number | null {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Instructions per CPU that something is known of. */
const MOST_KNOWN = 65_536;

export interface Access {
  readonly tick: number;
  readonly address: bigint;
}

/** Of one instruction. */
export interface Facts {
  /** Lines that say something of it. */
  lines: number;
  thread: number;
  renameTick: number;
  /** When the last unit squashed it; 0: none did. */
  squashTick: number;
  load: Access | null;
  store: Access | null;
  memoryDoneTick: number;
  /** Sequence numbers of those that wrote its sources, and of the stores that it waits for. */
  readonly producers: number[];
  readonly stores: number[];
}

/** Of one CPU. */
class CpuFacts {
  readonly known = new Map<number, Facts>();
  /** The instruction that was the last to rename to a physical register. */
  readonly registers = new Map<string, number>();
  /** By unit and kind: places of the load and store queue, and the access that is executed. */
  readonly places = new Map<string, { readonly tick: number; readonly seq: number }>();
  /** Stores that an instruction waits for which is named by its address, by the tick of its dispatch. */
  readonly byAddress = new Map<string, number[]>();
}

export class DebugFacts {
  private readonly cpus = new Map<string, CpuFacts>();
  maxThread = 0;
  /** Lines that were taken, and those of them whose instructions are gone or never came. */
  taken = 0;
  forgotten = 0;

  /** Objects of the CPUs, in the order of their names. */
  get names(): string[] {
    return [...this.cpus.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /** False: the line says nothing of an instruction. */
  take(text: string): boolean {
    const line = parseDebugLine(text);
    if (!line || !this.learn(this.cpu(line.cpu), line)) return false;
    this.taken++;
    if (line.thread !== null) this.maxThread = Math.max(this.maxThread, line.thread);
    return true;
  }

  /** The CPU of an instruction: the one that its lines name, or that has one of this number. Null: it cannot be said. */
  cpuOf(block: Gem5Block): string | null {
    if (block.object !== '') {
      this.cpu(block.object);
      return block.object;
    }
    if (this.cpus.size === 1) for (const [only] of this.cpus) return only;
    const seq = Number(block.seq);
    const having = [...this.cpus].filter(([, { known }]) => known.has(seq));
    if (having.length === 1) return having[0][0];
    const tick = block.tick(RENAME_STAGE);
    const same = having.filter(([, { known }]) => known.get(seq)?.renameTick === tick);
    return same.length === 1 ? same[0][0] : null;
  }

  /** Null: nothing is known of it. */
  of(cpu: string | null, block: Gem5Block): Facts | null {
    if (cpu === null || this.taken === 0) return null;
    return this.cpus.get(cpu)?.known.get(Number(block.seq)) ?? null;
  }

  /** The same, for the last time. `stores` has those too that it waits for by its address. */
  takeOut(cpu: string | null, block: Gem5Block, dispatchTick: number): Facts | null {
    const all = cpu === null ? undefined : this.cpus.get(cpu);
    if (!all) return null;
    const key = `${dispatchTick} ${block.pc}`;
    const waited = all.byAddress.get(key);
    const seq = Number(block.seq);
    const facts = all.known.get(seq) ?? (waited ? this.facts(all, seq) : null);
    if (!facts) return null;
    if (waited) {
      appendAll(facts.stores, waited);
      facts.lines += waited.length;
      all.byAddress.delete(key);
    }
    all.known.delete(seq);
    return facts;
  }

  /** Lines about instructions that never came. */
  get unclaimed(): number {
    let lines = this.forgotten;
    for (const { known, byAddress } of this.cpus.values()) {
      for (const facts of known.values()) lines += facts.lines;
      for (const waited of byAddress.values()) lines += waited.length;
    }
    return lines;
  }

  private cpu(name: string): CpuFacts {
    const found = this.cpus.get(name) ?? new CpuFacts();
    this.cpus.set(name, found);
    return found;
  }

  /** False: it cannot be said which instruction the line is about. */
  private learn(cpu: CpuFacts, { tick, object, thread, seq, fact }: DebugLine): boolean {
    if (fact.kind === 'memory-order' && fact.pc !== null) {
      const key = `${tick} ${fact.pc}`;
      const waited = cpu.byAddress.get(key) ?? [];
      waited.push(fact.on);
      remember(cpu.byAddress, key, waited, (lost) => (this.forgotten += lost.length));
      return true;
    }
    const subject = seq ?? (fact.kind === 'address' ? accessing(cpu, object, tick, fact) : null);
    if (subject === null) return false;
    const facts = this.facts(cpu, subject);
    facts.lines++;
    if (thread !== null) facts.thread = thread;
    switch (fact.kind) {
      case 'destination':
        facts.renameTick = tick;
        remember(cpu.registers, fact.register, subject);
        break;
      case 'source': {
        facts.renameTick = tick;
        const producer = cpu.registers.get(fact.register);
        if (producer !== undefined && producer !== subject && !facts.producers.includes(producer))
          facts.producers.push(producer);
        break;
      }
      case 'memory-order':
        facts.stores.push(fact.on);
        break;
      case 'memory-done':
        facts.memoryDoneTick = tick;
        break;
      case 'inserted':
      case 'executing':
        remember(cpu.places, placeOf(object, fact.isStore, null), { tick, seq: subject });
        if (fact.index !== null)
          remember(cpu.places, placeOf(object, fact.isStore, fact.index), { tick, seq: subject });
        break;
      case 'address':
        if (fact.isStore) facts.store ??= { tick, address: fact.address };
        else facts.load ??= { tick, address: fact.address };
        break;
      case 'squash':
        facts.squashTick = Math.max(facts.squashTick, tick);
        break;
      case 'named':
        break;
    }
    return true;
  }

  private facts(cpu: CpuFacts, seq: number): Facts {
    const known = cpu.known.get(seq);
    if (known) return known;
    const numbers = { lines: 0, thread: 0, renameTick: 0, squashTick: 0, memoryDoneTick: 0 };
    const made: Facts = { ...numbers, load: null, store: null, producers: [], stores: [] };
    remember(cpu.known, seq, made, ({ lines }) => (this.forgotten += lines));
    return made;
  }
}

/** A line with an address names the place in the queue; the place was given to an instruction before, or it is the one that executes now. */
function accessing(
  cpu: CpuFacts,
  object: string,
  tick: number,
  { isStore, index }: { readonly isStore: boolean; readonly index: number },
): number | null {
  const executing = cpu.places.get(placeOf(object, isStore, null));
  if (executing?.tick === tick) return executing.seq;
  return cpu.places.get(placeOf(object, isStore, index))?.seq ?? null;
}

const placeOf = (object: string, isStore: boolean, index: number | null): string =>
  `${object} ${isStore ? 'store' : 'load'} ${index ?? ''}`;

/** Sets a value; what was set first is lost when there are too many. */
function remember<K, V>(map: Map<K, V>, key: K, value: V, onLost?: (value: V) => void): void {
  map.set(key, value);
  if (map.size <= MOST_KNOWN) return;
  for (const [first, lost] of map) {
    map.delete(first);
    onLost?.(lost);
    return;
  }
}
