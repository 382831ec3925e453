/** What goes through a log command by command, without an object for each. */
import { UscopeError } from '../../base/errors.js';
import { TextBytes } from '../text/text-bytes.js';
import type { KanataRecord } from './types.js';

/** Numbers above 2^53 are bigints. Texts are valid during the call. */
export interface KanataVisitor {
  /** Whether `push` is to be awaited before the next command. */
  readonly isFull: boolean;
  push(): Promise<void>;
  /** Of compiled code: takes lines of `bytes[from, end)`, which are whole, until it is full. Returns where the first line begins that it left. */
  takeLines?(bytes: Uint8Array, from: number, end: number): number;
  cycle(cycle: number): void;
  advance(cycles: number): void;
  begin(id: number, gid: number | bigint, tid: number): void;
  label(id: number, type: number, text: TextBytes): void;
  start(id: number, lane: number, stage: string): void;
  end(id: number, lane: number, stage: string): void;
  retire(id: number, rid: number | bigint, type: number): void;
  dependency(consumer: number, producer: number, type: number): void;
}

export const MAX_TIME_PS = (1n << 63n) - 1n;

/** Time in a log as a visitor sees it. */
export class CycleCount {
  cycle = 0;
  /** Cycle of the first command that is not about time. */
  first: number | null = null;

  set(cycle: number): void {
    this.cycle = cycle;
  }

  /** @throws UscopeError CONVERT_LIMIT beyond 2^53 */
  advance(cycles: number): void {
    this.cycle = exactCycle(this.cycle + cycles);
  }

  begin(): void {
    this.first ??= this.cycle;
  }
}

const text = new TextBytes();

/** Calls the method of a record. @throws UscopeError CONVERT_LIMIT for a cycle beyond 2^53, and what the visitor throws */
export function visitRecord(record: KanataRecord, visitor: KanataVisitor): void {
  switch (record.kind) {
    case 'cycle':
      visitor.cycle(exactCycle(Number(record.cycle)));
      return;
    case 'advance':
      visitor.advance(exactCycle(Number(record.cycles)));
      return;
    case 'begin':
      visitor.begin(record.id, record.gid, record.tid);
      return;
    case 'label':
      visitor.label(record.id, record.type, text.set(record.text));
      return;
    case 'start':
      visitor.start(record.id, record.lane, record.stage);
      return;
    case 'end':
      visitor.end(record.id, record.lane, record.stage);
      return;
    case 'retire':
      visitor.retire(record.id, record.rid, record.type);
      return;
    case 'dependency':
      visitor.dependency(record.consumer, record.producer, record.type);
      return;
  }
}

/** @throws UscopeError CONVERT_LIMIT beyond 2^53 */
export function exactCycle(cycle: number): number {
  if (Number.isSafeInteger(cycle)) return cycle;
  throw beyondTimes(cycle);
}

export const beyondTimes = (cycle: number): UscopeError =>
  new UscopeError('CONVERT_LIMIT', `cycle ${cycle} lies beyond the times of a trace`);

export const runsBackwards = (cycle: number, last: number): UscopeError =>
  new UscopeError('CONVERT_FORMAT', `cycle ${cycle} follows cycle ${last}`);
