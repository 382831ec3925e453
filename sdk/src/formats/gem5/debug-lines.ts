/** Lines of other debug flags (`TICK: OBJECT: TEXT`) that say something of an instruction: Rename, MemDepUnit, LSQUnit, and squashes of any unit. */

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
