/** Values of counters and occupancies of buffers, each time they change, and events that name no instruction as instants. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, isCounterStorage, SF_BUFFER, type StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { ProtocolEvent } from '../../semantics/common/describe.js';
import type { StorageState } from '../../state/storage-state.js';
import { ItemStream } from '../../stream/item-stream.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { labelAt } from '../pipeline/core-fields.js';
import type { TimeScale } from './time-scale.js';
import type { PerfettoWriter } from './writer.js';

export interface CounterTarget {
  readonly writer: PerfettoWriter;
  readonly toNs: TimeScale;
  /** A new counter track for a storage: its uuid. */
  counter(storage: StorageDef, unit: string): number;
}

/** Something of a storage that is one number. */
interface Gauge {
  readonly track: number;
  isChanged: boolean;
  apply(cursor: FrameCursor): void;
  value(): number;
}

/** Stalls of a core, by event type. */
export type StallTracks = ReadonlyMap<number, { readonly event: ProtocolEvent; readonly track: number }>;

/** Ids of what the slices tell. */
export interface ToldElsewhere {
  readonly storages: ReadonlySet<number>;
  readonly events: ReadonlySet<number>;
}

export async function writeCounters(
  trace: Trace,
  target: CounterTarget,
  stalls: StallTracks,
  told: ToldElsewhere,
  context: ConversionContext,
): Promise<void> {
  const gauges = gaugesOf(trace, target);
  const { writer, toNs } = target;
  const { report, signal, onProgress } = context;
  const samples = report.kept('changes of counters and buffers', 'counter samples');
  const otherOps = report.dropped(
    'changes of storages that are neither counters nor buffers',
    'VCD has them',
  );
  const otherEvents = report.dropped('events that are not about instructions', 'VCD has them');
  const ofInstructions = report.dropped(
    'events about instructions that no slice says',
    'lanes, explicit ends, numbers of retirements and such; VCD has them',
  );
  const isOfInstruction = trace.schema.events.map(({ fields }) =>
    fields.some(({ name }) => name === 'entity_id' || name === 'consumer'),
  );
  const changed: Gauge[] = [];
  let now = 0;
  const settle = (): void => {
    for (const gauge of changed) {
      gauge.isChanged = false;
      writer.counter(gauge.track, now, gauge.value());
      samples.count++;
    }
    changed.length = 0;
  };
  const stream = new ItemStream(trace);
  for (let isFirst = true; await stream.nextSegment(); isFirst = false) {
    signal?.throwIfAborted();
    if (isFirst) start(gauges, (await trace.stateBefore(stream.segment.index)).raw);
    while (stream.next()) {
      const { cursor } = stream;
      if (cursor.kind === CursorItem.FRAME) {
        settle();
        if (writer.isFull) await writer.drain();
        now = toNs(cursor.timePs);
      } else if (cursor.kind === CursorItem.OP) {
        const gauge = gauges[cursor.storageId];
        if (!gauge) {
          if (!told.storages.has(cursor.storageId)) otherOps.count++;
          continue;
        }
        gauge.apply(cursor);
        if (!gauge.isChanged) changed.push(gauge);
        gauge.isChanged = true;
      } else {
        const stall = stalls.get(cursor.eventType);
        if (!stall) {
          const tally = isOfInstruction[cursor.eventType] ? ofInstructions : otherEvents;
          if (!told.events.has(cursor.eventType)) tally.count++;
          continue;
        }
        writer.instant(stall.track, now, labelAt(cursor, stall.event, 'reason') || 'stall', {
          category: 'stall',
        });
        report.kept('stalls of the core', 'instants').count++;
      }
    }
    onProgress?.(Math.min(1, stream.segmentsRead / Math.max(1, trace.segmentCount)));
  }
  settle();
  await writer.drain();
}

function gaugesOf(trace: Trace, target: CounterTarget): (StartedGauge | undefined)[] {
  return trace.schema.storages.map((storage) => {
    if (isCounterStorage(storage)) return new CounterGauge(storage, target.counter(storage, 'events'));
    if ((storage.flags & SF_BUFFER) !== 0)
      return new OccupancyGauge(storage, target.counter(storage, 'entries'));
    return undefined;
  });
}

function start(gauges: readonly (StartedGauge | undefined)[], state: StorageState): void {
  for (const gauge of gauges) gauge?.start(state);
}

interface StartedGauge extends Gauge {
  start(state: StorageState): void;
}

class CounterGauge implements StartedGauge {
  isChanged = false;
  private count = 0n;

  constructor(
    private readonly storage: StorageDef,
    readonly track: number,
  ) {}

  start(state: StorageState): void {
    this.count = state.value(this.storage.storageId, 0, 0);
  }

  apply({ action, lo, hi }: FrameCursor): void {
    const value = (BigInt(hi) << 32n) | BigInt(lo);
    if (action === Action.ADD) this.count = BigInt.asUintN(64, this.count + value);
    else if (action === Action.SET) this.count = value;
    else if (action === Action.CLEAR) this.count = 0n;
  }

  value(): number {
    return Number(this.count);
  }
}

class OccupancyGauge implements StartedGauge {
  isChanged = false;
  private readonly taken: Uint8Array;
  private count = 0;

  constructor(
    private readonly storage: StorageDef,
    readonly track: number,
  ) {
    this.taken = new Uint8Array(storage.numSlots);
  }

  start(state: StorageState): void {
    for (let slot = 0; slot < this.taken.length; slot++) {
      if (state.slotOccupied(this.storage.storageId, slot)) this.put(slot, 1);
    }
  }

  apply({ action, slot }: FrameCursor): void {
    if (action === Action.PROP_SET || slot >= this.taken.length) return;
    this.put(slot, action === Action.CLEAR ? 0 : 1);
  }

  value(): number {
    return this.count;
  }

  private put(slot: number, taken: 0 | 1): void {
    this.count += taken - (this.taken[slot] ?? 0);
    this.taken[slot] = taken;
  }
}
