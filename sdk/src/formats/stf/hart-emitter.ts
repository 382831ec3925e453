/** The instructions of an STF file as those of a core by the `cpu` protocol: born at their OPCODE, gone with the next one. */
import { Action, qualifiedName, type Schema } from '../../format/types.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import type { StfCursor } from './cursor.js';
import { isInterrupt, isSpecialEvent, trapValue } from './events.js';
import { HART_SCOPE } from './record-events.js';
import { StfType } from './types.js';

const EXCEPTION = 1;
/** One instruction ends where the next is born; each in its own slot. Two ids in turn make a smaller file than all slots would. */
const IN_TURN = 2;
const [ENTITY_ID, PC, INST_BITS] = [0, 1, 2];

export class HartEmitter {
  private readonly entities: number;
  private readonly committed: number;
  private readonly stage: number;
  private readonly flush: number;
  private readonly trap: number;
  private born = 0;
  /** The EVENT of the present instruction: its id and the value that goes with the trap. */
  private event: { id: bigint; value: bigint } | null = null;
  private target: bigint | null = null;

  constructor(
    schema: Schema,
    private readonly batch: RecordBatch,
    /** Called before each item. */
    private readonly count: () => void,
  ) {
    const named = <T extends { name: string; scopeId: number }>(defs: readonly T[], name: string): T =>
      defs.find((def) => qualifiedName(schema, def) === `${HART_SCOPE}/${name}`) as T;
    this.entities = named(schema.storages, 'entities').storageId;
    this.committed = named(schema.storages, 'committed_insns').storageId;
    this.stage = named(schema.events, 'stage_transition').eventTypeId;
    this.flush = named(schema.events, 'flush').eventTypeId;
    this.trap = named(schema.events, 'trap').eventTypeId;
  }

  /** Whether an instruction is in flight. */
  get hasLast(): boolean {
    return this.born > 0;
  }

  /** A record in front of the OPCODE. */
  note(cursor: StfCursor): void {
    if (cursor.type === StfType.EVENT_PC_TARGET) this.target = cursor.view.getBigUint64(cursor.at + 1, true);
    else if (cursor.type === StfType.EVENT) this.noteEvent(cursor);
  }

  /** The OPCODE that the cursor is at. */
  instruction(cursor: StfCursor): void {
    if (this.born > 0) this.clear();
    const slot = this.born % IN_TURN;
    this.op(Action.SET, this.entities, slot, ENTITY_ID, slot, 0);
    this.op(Action.SET, this.entities, slot, PC, cursor.pcLo, cursor.pcHi);
    this.op(Action.SET, this.entities, slot, INST_BITS, cursor.bits, 0);
    this.entityEvent(this.stage, slot, 0);
    this.born++;
    if (!this.emitTrap(slot, cursor)) this.op(Action.ADD, this.committed, 0, 0, 1, 0);
    this.event = this.target = null;
  }

  /** The last instruction is over. */
  end(): void {
    if (this.born > 0) this.clear();
  }

  private noteEvent({ view, at, hasEvent64 }: StfCursor): void {
    const id = hasEvent64 ? view.getBigUint64(at + 1, true) : BigInt(view.getUint32(at + 1, true));
    if (isSpecialEvent(id, hasEvent64)) return;
    const head = at + (hasEvent64 ? 10 : 6);
    const data = Array.from({ length: view.getUint8(head - 1) }, (_, i) =>
      view.getBigUint64(head + 8 * i, true),
    );
    this.event = { id, value: trapValue(id, data) };
  }

  /** Returns whether the instruction did not complete: what trapped synchronously appears again where it succeeds. */
  private emitTrap(slot: number, { hasEvent64 }: StfCursor): boolean {
    const { event, target } = this;
    if (event === null || target === null) return false;
    this.count();
    const { view, offset } = this.batch.event(this.trap, 28);
    view.setUint32(offset, slot, true);
    view.setBigUint64(offset + 4, event.id, true);
    view.setBigUint64(offset + 12, event.value, true);
    view.setBigUint64(offset + 20, target, true);
    if (isInterrupt(event.id, hasEvent64)) return false;
    this.entityEvent(this.flush, slot, EXCEPTION);
    return true;
  }

  private clear(): void {
    this.op(Action.CLEAR, this.entities, (this.born - 1) % IN_TURN, 0, 0, 0);
  }

  private entityEvent(type: number, slot: number, value: number): void {
    this.count();
    const { view, offset } = this.batch.event(type, 5);
    view.setUint32(offset, slot, true);
    view.setUint8(offset + 4, value);
  }

  private op(action: Action, storage: number, slot: number, field: number, lo: number, hi: number): void {
    this.count();
    this.batch.op(action, storage, slot, field, lo, hi);
  }
}
