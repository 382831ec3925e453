/**
 * Reads the demo's trace from end to end and holds it against the rules of the `cpu` protocol: every instruction is born
 * once, enters its stages in order, and ends retired or squashed. What the trace says about the run is gathered on the
 * way, to be compared with what the core says about itself. Types: audit.d.mts.
 */
import { Action, CoreAudit, compareCore } from './audit-base.mjs';
import { StoreAudit } from './audit-stores.mjs';

const STAGES = 5;

/** @param {import('uscope/reader').Trace} trace */
export function auditTrace(trace, onInstruction = () => {}, scope = 'core0') {
  return new Audit(trace, onInstruction, scope).run(trace);
}

/** Differences between an audited trace and the core's own report; empty when there are none. */
export function compareWithReport(audit, report) {
  const { counters } = report;
  const { differences, same } = compareCore(audit, report);
  const flushes = Object.values(audit.flushes).reduce((sum, n) => sum + n, 0);
  if ('flushes' in counters) same('events of flushes', flushes, counters.flushes);
  if ('mispredicts' in counters)
    same('events of mispredicts', audit.flushes.mispredict, counters.mispredicts);
  return differences;
}

class Audit extends CoreAudit {
  constructor(trace, onInstruction, scope) {
    super(trace, onInstruction, scope);
    const { storage } = this;
    const event = (name) => trace.names.event(`${scope}/${name}`).eventTypeId;
    this.pipeline = storage('pipeline_regs');
    this.regs = storage('regs');
    const stores = storage('store_buffer');
    this.stores = new StoreAudit(stores, (text) => this.problem(text));
    this.ids = {
      entities: this.entities.storageId,
      pipeline: this.pipeline.storageId,
      regs: this.regs.storageId,
      stores: stores.storageId,
      transition: event('stage_transition'),
      annotate: event('annotate'),
      dependency: event('dependency'),
      flush: event('flush'),
      stall: event('stall'),
      trap: event('trap'),
    };
    this.latches = new Array(this.pipeline.numSlots).fill(null);
    this.flushing = null;
  }

  frame(time) {
    if (this.frames > 0 && time <= this.time) this.problem(`a frame follows one at ${this.time} ps`);
    if (this.write) this.problem('a register was written, but no instruction retired');
    this.stores.endFrame();
    this.write = null;
    this.flushing = null;
    this.time = time;
    this.frames++;
  }

  // -- operations

  op(cursor) {
    const { storageId, action, slot } = cursor;
    if (storageId === this.ids.entities) {
      if (action === Action.CLEAR) this.end(slot);
      else this.describe(slot, cursor.field, cursor.lo);
    } else if (storageId === this.ids.pipeline) {
      this.latch(slot, action === Action.CLEAR ? null : cursor.lo);
    } else if (storageId === this.ids.regs) {
      this.setRegister(cursor);
    } else if (storageId === this.ids.stores) {
      this.store(this.stores.op(cursor));
    } else {
      this.count(cursor);
    }
  }

  /** A store enters the buffer as its instruction leaves the memory stage. */
  store(entry) {
    const entity = entry && this.living(entry.entity);
    if (!entity) return;
    if (entity.store) this.problem(`entity ${entity.slot} stores twice`);
    entity.store = entry;
  }

  describe(slot, field, value) {
    const name = this.entities.fields[field].name;
    if (name === 'entity_id') {
      this.birth(slot, value);
      return;
    }
    const entity = this.live.get(slot);
    if (!entity || entity.bornAt !== this.time) this.problem(`${name} of entity ${slot} outside its birth`);
    else entity[name] = value;
  }

  birth(slot, id) {
    this.stores.checkBirth(id);
    if (this.live.has(slot)) this.problem(`entity ${slot} is born while it lives`);
    if (id !== slot) this.problem(`entity in slot ${slot} calls itself ${id}`);
    this.live.set(slot, {
      serial: this.serial++,
      slot,
      bornAt: this.time,
      pc: null,
      inst_bits: null,
      text: null,
      enteredAt: [],
      producers: [],
      flushed: null,
      trap: null,
      store: null,
    });
  }

  end(slot) {
    const entity = this.live.get(slot);
    this.live.delete(slot);
    if (!entity) {
      this.problem(`entity ${slot} ends without having lived`);
      return;
    }
    const stage = entity.enteredAt.length - 1;
    const isRetired = entity.flushed === null;
    if (isRetired && stage !== STAGES - 1) this.problem(`entity ${slot} retires from stage ${stage}`);
    if (this.time <= entity.enteredAt[stage])
      this.problem(`entity ${slot} ends in the cycle in which it enters stage ${stage}`);
    this.ends(entity, isRetired);
  }

  latch(slot, id) {
    this.latches[slot] = id;
    if (id !== null && this.live.get(id)?.enteredAt.length !== slot + 2) {
      this.problem(`pipeline register ${slot} holds entity ${id}, which is not in stage ${slot + 1}`);
    }
  }

  // -- events

  event(type, payload) {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const { ids } = this;
    if (type === ids.stall) this.stall(payload[0]);
    else if (type === ids.dependency) this.dependency(view.getUint32(0, true), view.getUint32(4, true));
    else {
      const entity = this.living(view.getUint32(0, true));
      if (!entity) return;
      if (type === ids.transition) this.enter(entity, payload[4]);
      else if (type === ids.annotate) this.annotate(entity, view.getUint32(4, true));
      else if (type === ids.flush) this.flush(entity, payload[4]);
      else if (type === ids.trap) this.trap(entity, view);
    }
  }

  enter(entity, stage) {
    const before = entity.enteredAt.length;
    if (stage !== before)
      this.problem(`entity ${entity.slot} enters stage ${stage} after stage ${before - 1}`);
    if (before > 0 && this.time <= entity.enteredAt[before - 1]) {
      this.problem(`entity ${entity.slot} enters stages ${before - 1} and ${stage} in one cycle`);
    }
    if (before === 0 && this.time !== entity.bornAt)
      this.problem(`entity ${entity.slot} is fetched after its birth`);
    entity.enteredAt.push(this.time);
  }

  /** The instructions squashed in one frame are squashed for one reason. */
  flush(entity, reason) {
    if (this.flushing === null) {
      this.flushing = reason;
      this.flushFor(reason);
    } else if (this.flushing !== reason)
      this.problem('instructions are squashed for two reasons in one cycle');
    this.squash(entity, reason);
  }

  // -- end

  finish() {
    super.finish();
    this.latches.forEach((id, slot) => {
      if (id !== null) this.problem(`pipeline register ${slot} is not emptied`);
    });
  }
}
