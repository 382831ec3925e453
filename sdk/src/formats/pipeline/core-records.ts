/** The records of one core of a pipeline trace, by the slots of its instructions. */
import { Action, packedSize, type Schema } from '../../format/types.js';
import { tooManyInFlight } from './errors.js';
import type { EventShape, PipelineFrames } from './frames.js';
import { FLUSH_REASONS, UNKNOWN_FLUSH } from './shape.js';
import { SlotPool } from './slot-pool.js';

/** Number of the reason that logs do not say. */
export const FLUSH_REASON = FLUSH_REASONS.indexOf(UNKNOWN_FLUSH);

export class CoreRecords {
  readonly ids: PipelineIds;
  private readonly pool: SlotPool;

  /** @param slots instructions in flight at a time, at most */
  constructor(
    schema: Schema,
    core: string,
    private readonly slots: number,
    private readonly frames: PipelineFrames,
  ) {
    this.ids = pipelineIds(schema, core);
    this.pool = new SlotPool(slots);
    frames.follow(this.pool);
  }

  /** An instruction begins. @returns its slot @throws UscopeError CONVERT_SOURCE, CONVERT_UNSUPPORTED when all slots are taken */
  birth(): number {
    const slot = this.freeSlot();
    if (slot === null) throw tooManyInFlight(this.slots);
    this.set(slot, this.ids.entityId, slot);
    return slot;
  }

  /** Null: all slots are taken. */
  freeSlot(): number | null {
    const slot = this.pool.take();
    return slot < 0 ? null : slot;
  }

  set(slot: number, field: number, value: number | bigint): void {
    this.frames.op(Action.SET, this.ids.entities, slot, field, value);
  }

  stage(slot: number, stage: number): void {
    this.frames.shortEvent(this.ids.stageTransition, slot, stage);
  }

  /** @param string number of the text in the trace */
  annotate(slot: number, string: number): void {
    this.frames.shortEvent(this.ids.annotate, slot, string);
  }

  /** @param type index into DEPENDENCY_TYPES */
  dependency(producer: number, consumer: number, type: number): void {
    const { view, offset } = this.frames.event(this.ids.dependency);
    view.setUint32(offset, producer, true);
    view.setUint32(offset + 4, consumer, true);
    view.setUint8(offset + 8, type);
  }

  memory(slot: number, isStore: boolean, address: number | bigint): void {
    const { view, offset } = this.frames.event(isStore ? this.ids.memStore : this.ids.memLoad);
    view.setUint32(offset, slot, true);
    view.setBigUint64(offset + 4, BigInt(address), true);
  }

  flush(slot: number): void {
    this.frames.shortEvent(this.ids.flush, slot, FLUSH_REASON);
  }

  commit(): void {
    this.frames.op(Action.ADD, this.ids.committed, 0, 0, 1);
  }

  /** The instruction is over; its slot is free when time moves on. */
  clear(slot: number): void {
    this.frames.op(Action.CLEAR, this.ids.entities, slot, 0, 0);
    this.pool.giveBack(slot);
  }
}

export type PipelineIds = ReturnType<typeof pipelineIds>;

/** Numbers of what `pipelineSchema` has in the scope of a core; -1 for what a log of this kind has not. */
export function pipelineIds({ scopes, storages, events }: Schema, core: string) {
  const { scopeId } = scopes.find(({ name }) => name === core)!;
  const storage = (wanted: string) => storages.find((one) => one.name === wanted && one.scopeId === scopeId)!;
  const entities = storage('entities');
  const field = (name: string): number => entities.fields.findIndex((one) => one.name === name);
  const event = (name: string): EventShape => {
    const found = events.find((one) => one.name === name && one.scopeId === scopeId);
    return found ? { id: found.eventTypeId, size: packedSize(found.fields) } : { id: -1, size: 0 };
  };
  return {
    entities: entities.storageId,
    committed: storage('committed_insns').storageId,
    entityId: field('entity_id'),
    pc: field('pc'),
    threadId: field('thread_id'),
    gid: field('gid'),
    logId: field('log_id'),
    stageTransition: event('stage_transition'),
    annotate: event('annotate'),
    dependency: event('dependency'),
    flush: event('flush'),
    retire: event('retire'),
    laneStart: event('lane_start'),
    laneEnd: event('lane_end'),
    lateDependency: event('late_dependency'),
    memLoad: event('mem_load'),
    memStore: event('mem_store'),
  };
}
