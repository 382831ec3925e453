/**
 * `fifos`: queues as buffers. By pointers: `{write: SIGNAL, read: SIGNAL, slots: 16, full: CONDITION, fields: {data: mem[*]}}`; by a bit per
 * entry: `{valid: SIGNAL, packed: SIGNAL, bits: 32}`.
 */
import { UscopeError } from '../../../base/errors.js';
import type { FixedKeys } from '../../../schema/node-reader.js';
import type { FieldValue } from '../../../writer/records/values.js';
import type { Condition } from '../sampling/condition.js';
import { type FieldPiece, readerOf } from '../sampling/fields.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';
import type { FollowedPart, Run } from '../sampling/run.js';
import { layoutOf, packedField, type WordField } from './words.js';

const KEYS = ['write', 'read', 'slots', 'full', 'valid', 'fields', 'packed', 'bits'];
/** Number of an entry: how many came before it. */
const NUMBER = 'number';
const HEAD = 0;
const TAIL = 1;

interface FifoPlan {
  readonly path: string;
  readonly slots: number;
  readonly pointers: { readonly write: FollowedPart; readonly read: FollowedPart } | null;
  readonly valid: FollowedPart | null;
  readonly full: ((run: Run) => Condition) | null;
  readonly cellsOf: (add: (slot: number, field: number, piece: FieldPiece) => void) => void;
}

export function planFifo(scope: PlanScope, entry: EntryReader): void {
  const keys = entry.fixedKeys(KEYS);
  const words = entryFields(scope, entry, keys);
  const layout =
    words.length > 0 ? layoutOf(entry.name, words) : { slots: 0, types: {}, cellsOf: () => undefined };
  const validName = entry.text(keys, 'valid');
  const valid = validName === undefined ? null : scope.bits(validName);
  const pointers = valid ? null : pointersOf(scope, entry, keys);
  const slots =
    entry.integer(keys, 'slots') ?? valid?.width ?? slotsOf(layout.slots, pointers?.write.width ?? 0);
  if (slots < 1 || slots > 65_535)
    throw new UscopeError('CONVERT_OPTION', `"${entry.name}" has ${slots} slots; 1 to 65535 are possible`);
  const fullText = entry.text(keys, 'full');
  const full = fullText === undefined ? null : scope.condition(fullText);
  scope.members.push((builder) =>
    builder.storage(entry.name, {
      slots,
      kind: 'buffer',
      fields: { [NUMBER]: 'u64', ...layout.types },
      ...(pointers
        ? { properties: { read: { type: 'u32', role: 'head' }, write: { type: 'u32', role: 'tail' } } }
        : {}),
    }),
  );
  const plan = { path: `${scope.name}/${entry.name}`, slots, pointers, valid, full, cellsOf: layout.cellsOf };
  scope.recorders.push((run) => new FifoRecorder(run, plan));
}

function entryFields(scope: PlanScope, entry: EntryReader, keys: FixedKeys): WordField[] {
  const packed = entry.text(keys, 'packed');
  const own = entry
    .pairs(keys, 'fields')
    .map(([name, pattern]) => ({ name, slots: scope.numbered(pattern) }));
  return packed === undefined
    ? own
    : [...own, packedField(scope, 'data', packed, entry.integer(keys, 'bits') ?? 1)];
}

function pointersOf(scope: PlanScope, entry: EntryReader, keys: FixedKeys) {
  return {
    write: scope.bits(entry.needed(keys, 'write', 'write: SIGNAL and read: SIGNAL, or valid: SIGNAL')),
    read: scope.bits(entry.needed(keys, 'read', 'read: SIGNAL')),
  };
}

/** Pointers often have a bit more than they need, which distinguishes full from empty. */
function slotsOf(words: number, width: number): number {
  if (words > 0) return words;
  return 1 << Math.min(Math.max(width - 1, 0), 15);
}

class FifoRecorder {
  private readonly storage: number;
  private readonly isHeld: Uint8Array;
  private readonly next: Uint8Array;
  private readonly cells: { readonly field: number; readonly read: () => FieldValue }[][];
  private readonly last: (FieldValue | undefined)[][];
  private readonly isFull: Condition | null;
  private readonly occupied: () => void;
  private readonly head: { value: number };
  private readonly tail: { value: number };
  private pushed = 0;
  private readonly tally;

  constructor(
    private readonly run: Run,
    private readonly plan: FifoPlan,
  ) {
    this.storage = run.storage(plan.path);
    this.isHeld = new Uint8Array(plan.slots);
    this.next = new Uint8Array(plan.slots);
    this.cells = Array.from({ length: plan.slots }, () => []);
    this.last = Array.from({ length: plan.slots }, () => []);
    plan.cellsOf((slot, field, piece) => {
      if (slot < plan.slots) this.cells[slot].push({ field: field + 1, read: readerOf(run, piece) });
    });
    this.isFull = plan.full?.(run) ?? null;
    this.head = { value: -1 };
    this.tail = { value: -1 };
    this.occupied = plan.valid ? this.byBits(plan.valid) : this.byPointers();
    this.tally = run.kept('entries of FIFOs', 'SET and CLEAR of a buffer');
  }

  edge(isReset: boolean): void {
    this.next.fill(0);
    if (!isReset) this.occupied();
    const { next, isHeld, plan, run } = this;
    // From the oldest on, so that numbers rise with age.
    const first = plan.pointers ? Math.max(this.head.value, 0) % plan.slots : 0;
    for (let k = 0; k < plan.slots; k++) {
      const slot = (first + k) % plan.slots;
      if (next[slot] === 0) {
        if (isHeld[slot] === 1) run.open().slotClear(this.storage, slot);
      } else this.hold(slot);
      isHeld[slot] = next[slot];
    }
  }

  private hold(slot: number): void {
    const isNew = this.isHeld[slot] === 0;
    if (isNew) {
      this.run.set(this.storage, slot, 0, this.pushed++);
      this.tally.count++;
    }
    const last = this.last[slot];
    this.cells[slot].forEach(({ field, read }, index) => {
      const value = read();
      if (!isNew && value === last[index]) return;
      last[index] = value;
      this.run.set(this.storage, slot, field, value);
    });
  }

  private byBits(valid: FollowedPart): () => void {
    const probes = Array.from({ length: Math.min(valid.width, this.plan.slots) }, (_, bit) =>
      this.run.probe({ ...valid, from: valid.from + bit, width: 1 }),
    );
    return () => {
      probes.forEach((probe, slot) => {
        this.next[slot] = probe.isSet() ? 1 : 0;
      });
    };
  }

  /** Entries are those from the read pointer to the write pointer; equal pointers are empty, unless a bit more, or `full`, says otherwise. */
  private byPointers(): () => void {
    const { pointers, slots } = this.plan;
    if (!pointers) return () => undefined;
    const [write, read] = [this.run.probe(pointers.write), this.run.probe(pointers.read)];
    const span = 2 ** pointers.write.width;
    const hasLapBit = span >= 2 * slots;
    return () => {
      if (write.isUnknown() || read.isUnknown()) return;
      const [w, r] = [write.low(), read.low()];
      this.pointer(HEAD, this.head, r % slots);
      this.pointer(TAIL, this.tail, w % slots);
      const lap = hasLapBit ? span : slots;
      let count = (((w - r) % lap) + lap) % lap;
      if (count === 0 && this.isFull?.()) count = slots;
      for (let k = 0; k < Math.min(count, slots); k++) this.next[(r + k) % slots] = 1;
    };
  }

  private pointer(property: number, known: { value: number }, now: number): void {
    if (known.value === now) return;
    known.value = now;
    this.run.open().propSet(this.storage, property, now);
  }
}
