/** The records of one core of a pipeline trace, by the slots of its instructions. */

import { UscopeError } from '../../base/errors.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import { Action, type Schema } from '../../format/types.js';
import { FLUSH_REASONS } from '../common/cpu-scope.js';
import { scopeIds } from '../common/trace-frames.js';
import type { PipelineFrames } from './frames.js';
import { UNKNOWN_FLUSH } from './shape.js';

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
    this.frames.change(Action.SET, this.ids.entities, slot, field, value);
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
    this.frames.change(Action.ADD, this.ids.committed, 0, 0, 1);
  }

  /** The instruction is over; its slot is free when time moves on. */
  clear(slot: number): void {
    this.frames.change(Action.CLEAR, this.ids.entities, slot, 0, 0);
    this.pool.giveBack(slot);
  }
}

export type PipelineIds = ReturnType<typeof pipelineIds>;

/** Numbers of what `pipelineSchema` has in the scope of a core; -1 for what a log of this kind has not. */
export function pipelineIds(schema: Schema, core: string) {
  const { storage, event } = scopeIds(schema, core);
  const entities = schema.storages[storage('entities')];
  const field = (name: string): number => entities.fields.findIndex((one) => one.name === name);
  return {
    entities: entities.storageId,
    committed: storage('committed_insns'),
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

/** Entity ids: slots of the catalog. A slot that was given back is used again when time has moved on, the one longest free first. */
export class SlotPool {
  private readonly free: number[] = [];
  private head = 0;
  private next = 0;
  private readonly ended: number[] = [];

  constructor(private readonly size: number) {}

  /** -1: all are taken. */
  take(): number {
    if (this.next < this.size) return this.next++;
    const slot = this.free[this.head];
    if (slot === undefined) return -1;
    this.head++;
    return slot;
  }

  giveBack(slot: number): void {
    this.ended.push(slot);
  }

  /** Time has moved on. */
  settle(): void {
    if (this.head > 1024) this.free.splice(0, this.head);
    if (this.head > 1024) this.head = 0;
    for (const slot of this.ended) this.free.push(slot);
    this.ended.length = 0;
  }
}

// What can be wrong with a log of instructions, in words.

/** Instructions in flight that a trace follows. */
export const MAX_IN_FLIGHT = 65_535;

export const longString = (size: number): UscopeError =>
  new UscopeError('OP_STRING', `a string of ${size} bytes; at most ${MAX_STRING_BYTES} are allowed`);

/** @param slots instructions in flight that the log has been found to have */
export function tooManyInFlight(slots: number): UscopeError {
  if (slots < MAX_IN_FLIGHT)
    return new UscopeError(
      'CONVERT_SOURCE',
      'the log changed while it was read: more instructions are in flight than before',
    );
  return new UscopeError(
    'CONVERT_UNSUPPORTED',
    `more than ${MAX_IN_FLIGHT} instructions are in flight at once; a trace follows ${MAX_IN_FLIGHT}`,
  );
}
