/**
 * Two traces by what their storages hold: after every instant all values that both have must agree. Whether a value was set or added up, in
 * which order, or set again to what it was, makes no difference; events are not looked at.
 */
import type { FieldDef, StorageDef } from '../../format/types.js';
import { type LogicalField, logicalFields } from '../../format/wide-fields.js';
import type { TimeRange, Trace } from '../../reader/index.js';
import { stateBefore, traceStart } from '../../reader/queries/state-before.js';
import type { StorageState } from '../../state/storage-state.js';
import { errorIn } from '../../stream/item-stream.js';
import { findOverflow } from '../../stream/slot-overflow.js';
import { StringRefs } from '../../stream/string-refs.js';
import { CommonState } from './common-state.js';
import { cycleIn, logicalText } from './describe.js';
import type { SchemaMatch } from './match.js';
import type { CellView, StateDivergence, StateReport } from './report.js';
import { compareTimes, type DiffInput, Side } from './side.js';

export interface StateOptions {
  readonly range: TimeRange;
  /** Values shown at the divergence. */
  readonly context: number;
  readonly stopAtFirst: boolean;
  readonly onProgress?: ((part: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Begins where both traces have a state. */
export async function diffByState(
  a: DiffInput,
  b: DiffInput,
  match: SchemaMatch,
  options: StateOptions,
): Promise<StateReport> {
  const starts = [BigInt(options.range.from ?? 0), await traceStart(a.trace), await traceStart(b.trace)];
  const fromPs = starts.reduce((latest, start) => (start > latest ? start : latest));
  const range = { from: fromPs, to: options.range.to };
  const walk = new StateWalk(new Side(a, match, 'a', range), new Side(b, match, 'b', range), match, options);
  try {
    await walk.begin(fromPs);
    await walk.run();
  } finally {
    await walk.close();
  }
  return walk.report(fromPs, walk.found && (await explain(a.trace, b.trace, match, walk, options)));
}

class StateWalk {
  /** After which instant they first differ, and in which cells. */
  found: {
    readonly timePs: bigint;
    readonly isStart: boolean;
    readonly cells: readonly number[];
    readonly count: number;
  } | null = null;
  lastSame: bigint | null = null;
  readonly state: CommonState;
  private readonly instants = { same: 0, different: 0 };
  private readonly perStorage: { firstPs: bigint | null; instants: number }[];

  constructor(
    private readonly a: Side,
    private readonly b: Side,
    private readonly match: SchemaMatch,
    private readonly options: StateOptions,
  ) {
    this.state = new CommonState(match);
    this.perStorage = match.storages.map(() => ({ firstPs: null, instants: 0 }));
  }

  /** The states both begin with. */
  async begin(fromPs: bigint): Promise<void> {
    for (const side of [this.a, this.b]) {
      const state = await this.startOf(side, fromPs).catch((error: unknown) => {
        throw errorIn(error, side.input.name);
      });
      await loadTexts(side, state);
      this.state.load(side, state);
    }
    this.state.compareAll();
    if (this.state.differing > 0) this.note(fromPs, true);
    else this.lastSame = fromPs;
  }

  /** With what is in slots beyond the size of a storage, in files of writers that use such. */
  private async startOf({ input: { trace } }: Side, fromPs: bigint): Promise<StorageState> {
    const state = await stateBefore(trace, fromPs);
    return (await findOverflow(trace, fromPs)).widen(state);
  }

  async run(): Promise<void> {
    const { a, b, options } = this;
    await a.fill();
    await b.fill();
    for (let n = 0; !a.isDone || !b.isDone; n++) {
      if (options.stopAtFirst && this.found) return;
      const order = compareTimes(a, b);
      const { timeLo, timeHi, timePs } = order <= 0 ? a : b;
      const before = this.state.touched;
      if (order <= 0) await this.take(a, timeLo, timeHi);
      if (order >= 0) await this.take(b, timeLo, timeHi);
      if (this.state.touched !== before) this.settle(timePs);
      if (n % 1024 === 0) {
        options.signal?.throwIfAborted();
        options.onProgress?.(Math.min(a.progress, b.progress));
      }
    }
  }

  async close(): Promise<void> {
    await this.a.close();
    await this.b.close();
  }

  /** Applies all ops of a side at one time. */
  private async take(side: Side, timeLo: number, timeHi: number): Promise<void> {
    const isA = side === this.a;
    while (!side.isDone && side.timeLo === timeLo && side.timeHi === timeHi) {
      if (!side.isEvent) this.state.apply(side, isA);
      if (!side.advance()) await side.fill();
    }
  }

  private settle(timePs: bigint): void {
    this.state.compareTouched();
    if (this.state.differing === 0) {
      this.instants.same++;
      if (!this.found) this.lastSame = timePs;
      return;
    }
    this.instants.different++;
    this.note(timePs, false);
  }

  private note(timePs: bigint, isStart: boolean): void {
    const { state } = this;
    if (!this.found) {
      const cells = state.differingCells(Math.max(1, this.options.context));
      this.found = { timePs, isStart, cells, count: state.differing };
    }
    state.differingIn.forEach((count, storage) => {
      if (count === 0) return;
      const own = this.perStorage[storage];
      own.firstPs ??= timePs;
      own.instants++;
    });
  }

  report(fromPs: bigint, first: StateDivergence | null): StateReport {
    const { state, match } = this;
    return {
      by: 'state',
      first,
      fromPs,
      instants: { ...this.instants },
      values: state.values,
      atEnd: state.differing,
      storages: match.storages.flatMap(({ path }, storage) => {
        const { firstPs, instants } = this.perStorage[storage];
        return firstPs === null ? [] : [{ path, firstPs, instants, atEnd: state.differingIn[storage] }];
      }),
    };
  }
}

/** Hashes of the strings a state refers to. */
async function loadTexts(side: Side, state: StorageState): Promise<void> {
  const wanted = new Set<number>([0]); // dense slots never set hold 0
  new StringRefs(side.input.trace.schema).forEachInState(state, (word) => wanted.add(state.cells[word]));
  await side.loadHashes(wanted);
}

async function explain(
  a: Trace,
  b: Trace,
  match: SchemaMatch,
  { found, lastSame, state }: StateWalk,
  { context }: StateOptions,
): Promise<StateDivergence | null> {
  if (!found) return null;
  const { timePs, isStart } = found;
  const at = (trace: Trace): Promise<StorageState> =>
    isStart ? stateBefore(trace, timePs) : trace.stateAt(timePs).then(({ raw }) => raw);
  const inA = await at(a);
  const inB = await at(b);
  const cells: CellView[] = [];
  for (const cell of found.cells.slice(0, Math.max(1, context))) {
    const { storage, slot, field } = state.place(cell);
    const pair = match.storages[storage];
    cells.push({
      path: pair.path,
      slot,
      field: field && logicalAt(slot === null ? pair.a.properties : pair.a.fields, field.a).name,
      a: await cellText(a, inA, pair.a, slot, field?.a ?? null),
      b: await cellText(b, inB, pair.b, slot, field?.b ?? null),
    });
  }
  const { scopeId } = match.storages[state.place(found.cells[0]).storage].a;
  const cycle = (time: bigint): bigint | null => cycleIn(a, scopeId, time);
  const last = lastSame === null ? null : { timePs: lastSame, cycle: cycle(lastSame) };
  return { timePs, cycle: cycle(timePs), cells, cellCount: found.count, last };
}

/** Text of a value; null for a slot that is not valid. `slot` null: a property, `field` null: the validity itself. */
async function cellText(
  trace: Trace,
  state: StorageState,
  { storageId, numSlots, fields, properties }: StorageDef,
  slot: number | null,
  field: number | null,
): Promise<string | null> {
  if (slot !== null && (slot >= numSlots || !state.slotValid(storageId, slot))) return null;
  if (field === null) return 'valid';
  const raw = (index: number): bigint =>
    slot === null ? state.property(storageId, index) : state.value(storageId, slot, index);
  const defs = slot === null ? properties : fields;
  await trace.strings.load([Number(raw(field) & 0xffff_ffffn)]);
  return logicalText(trace, defs, logicalAt(defs, field), raw);
}

/** The value that a field of the schema begins; the field itself where the rest of the value is elsewhere. */
function logicalAt(fields: readonly FieldDef[], index: number): LogicalField {
  const whole = logicalFields(fields).find(({ pieces }) => pieces[0] === index);
  return whole ?? { name: fields[index].name, bits: 0, pieces: [index], unknown: [] };
}
