/** Tool state_at_cycle: what the storages held at one time. */
import * as z from 'zod';
import { UscopeError } from '../../../base/errors.js';
import { isStringRef, type StorageView, type Trace, type TraceState } from '../../../reader/index.js';
import { parseTime } from '../../common/times.js';
import { halves, ValueFormat } from '../../common/values.js';
import { Budget, ending, pairOf } from './answer.js';
import { clock, cursor, cycle, file, limit } from './arguments.js';
import { defineTool } from './tool.js';

export const stateAtCycleTool = defineTool({
  name: 'state_at_cycle',
  title: 'State at a cycle',
  description:
    'What storages (register files, buffers, catalogs of instructions in flight, counters) hold after everything recorded up to and including a cycle: valid or occupied slots with their fields, and properties. Name the storages you need: all of them may be many.',
  input: {
    file,
    cycle: cycle.optional().describe('Cycle; the state includes everything recorded in it'),
    clock,
    time: z
      .union([z.number().int().nonnegative(), z.string()])
      .optional()
      .describe('In place of cycle: picoseconds, or 4ns, 1.5us'),
    storages: z.array(z.string()).optional().describe('Names of storages; default: all'),
    limit: limit(64, 1000),
    cursor,
  },
  run(args, { files }) {
    return files.use(args.file, async (trace, { name }) => {
      const timePs = timeOf(args, trace);
      const wanted: (string | number)[] = args.storages ?? [...trace.names.storageNames.keys()];
      const ids = wanted.map((one) => trace.names.storage(one).storageId);
      const state = await trace.stateAt(timePs);
      const answer = await new StateAnswer(trace, state, new Budget(args.limit)).of(ids, args.cursor);
      const end = trace.totalTimePs;
      return {
        file: name,
        timePs: timePs,
        ...(timePs > end ? { note: `the trace ends at ${end} ps; this is its last state` } : {}),
        ...answer,
      };
    });
  },
});

interface When {
  readonly cycle?: number | string | undefined;
  readonly clock?: string | undefined;
  readonly time?: number | string | undefined;
}

/** A cycle's state is that of its last ps: frames within a cycle belong to it. */
function timeOf({ cycle, clock, time }: When, trace: Trace): bigint {
  if ((cycle === undefined) === (time === undefined)) {
    throw new UscopeError('CLI_USAGE', 'give either a cycle or a time');
  }
  if (time !== undefined) return parseTime(String(time));
  return trace.timeOfCycle(BigInt(cycle ?? 0) + 1n, clock) - 1n;
}

/** Slots of one storage after the other, until the budget is spent. */
class StateAnswer {
  constructor(
    private readonly trace: Trace,
    private readonly state: TraceState,
    private readonly budget: Budget,
  ) {}

  async of(ids: readonly number[], cursor: string | undefined) {
    const [start, firstSlot] = pairOf(cursor) ?? [0n, 0];
    const storages: object[] = [];
    for (let index = Number(start); index < ids.length; index++) {
      const from = index === Number(start) ? firstSlot : 0;
      const { shown, next } = await this.storage(ids[index], from);
      if (shown) storages.push(shown);
      if (next !== null) return { storages, ...ending(`${index}:${next}`) };
    }
    return { storages, ...ending(null) };
  }

  /** `next`: the slot at which the answer is cut. */
  private async storage(id: number, from: number): Promise<{ shown: object | null; next: number | null }> {
    const view = this.state.storage(id);
    const { name, occupancy, def } = view;
    await this.loadProperties(view);
    const properties = this.properties(view);
    const head = {
      storage: name,
      numSlots: def.numSlots,
      occupancy,
      ...(def.properties.length ? { properties } : {}),
    };
    if (!this.budget.take(head)) return { shown: null, next: from };
    const formats = this.formats(def.fields);
    const slots: object[] = [];
    for (const slot of view.slots()) {
      if (slot < from) continue;
      await this.loadSlot(view, slot);
      const one = { slot, ...this.fields(view, slot, formats) };
      if (!this.budget.take(one)) return { shown: { ...head, slots }, next: slot };
      slots.push(one);
    }
    return { shown: { ...head, slots }, next: null };
  }

  private formats(fields: StorageView['def']['fields']): ValueFormat[] {
    return fields.map((field) => new ValueFormat(field, this.trace.schema, this.trace.strings));
  }

  private fields(view: StorageView, slot: number, formats: readonly ValueFormat[]): Record<string, unknown> {
    const { storageId } = view.def;
    return Object.fromEntries(
      formats.map((format, i) => [
        format.field.name,
        shownValue(format, this.state.raw.value(storageId, slot, i)),
      ]),
    );
  }

  private properties({ def }: StorageView): Record<string, unknown> {
    const formats = this.formats(def.properties);
    return Object.fromEntries(
      formats.map((format, i) => [
        format.field.name,
        shownValue(format, this.state.raw.property(def.storageId, i)),
      ]),
    );
  }

  private async loadProperties({ def }: StorageView): Promise<void> {
    const raw = def.properties.map((_, index) => this.state.raw.property(def.storageId, index));
    await this.trace.strings.load(raw.filter((_, i) => isStringRef(def.properties[i])).map(Number));
  }

  private async loadSlot({ def }: StorageView, slot: number): Promise<void> {
    if (!def.fields.some(isStringRef)) return;
    const raw = def.fields.map((_, index) => this.state.raw.value(def.storageId, slot, index));
    await this.trace.strings.load(raw.filter((_, i) => isStringRef(def.fields[i])).map(Number));
  }
}

/** As in the JSON of `uscope state`. */
function shownValue(format: ValueFormat, value: bigint): unknown {
  return JSON.parse(format.json(...halves(value)));
}
