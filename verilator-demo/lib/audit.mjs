/**
 * Reads the demo's trace from end to end and holds it against the rules of the `cpu` protocol: every instruction is born
 * once, enters its stages in order, and ends retired or squashed. What the trace says about the run is gathered on the
 * way, to be compared with what the core says about itself. Types: audit.d.mts.
 */

import { StoreAudit } from './audit-stores.mjs';

const STAGES = 5;
const PROBLEMS_KEPT = 20;
/** mcause of an interrupt has the highest bit set. */
const INTERRUPT = 0x8000_0000n;
const Action = { SET: 1, CLEAR: 2, ADD: 3 };

/** @param {import('uscope/reader').Trace} trace */
export async function auditTrace(trace, onInstruction = () => {}, scope = 'core0') {
  const audit = new Audit(trace, onInstruction, scope);
  await trace.scan({}, audit.visitor());
  audit.finish();
  return audit.result();
}

/** Differences between an audited trace and the core's own report; empty when there are none. */
export function compareWithReport(audit, report) {
  const differences = audit.problems.map((problem) => `trace: ${problem}`);
  const same = (what, trace, core) => {
    if (trace !== core) differences.push(`${what}: trace ${trace}, core ${core}`);
  };
  for (const [name, value] of Object.entries(report.counters)) {
    same(
      `counter ${name}`,
      audit.counters[name] === undefined ? 'none' : String(audit.counters[name]),
      value,
    );
  }
  report.registers.forEach((value, index) => {
    same(`register x${index}`, audit.registers[index], value);
  });
  same('instructions retired', String(audit.retired), report.counters.committed_insns);
  same('instructions squashed', String(audit.squashed), report.counters.squashed_insns);
  same('instructions born', String(audit.born), report.counters.fetched_insns);
  same('instructions born = retired + squashed', audit.born, audit.retired + audit.squashed);
  // Counted once more, from the events.
  const counted = {
    ...Object.fromEntries(Object.entries(audit.stalls).map(([reason, n]) => [`stalls_${reason}`, n])),
    flushes: Object.values(audit.flushes).reduce((sum, n) => sum + n, 0),
    mispredicts: audit.flushes.mispredict,
    exceptions: audit.traps.filter(({ cause }) => cause < INTERRUPT).length,
    interrupts: audit.traps.filter(({ cause }) => cause >= INTERRUPT).length,
  };
  for (const [name, events] of Object.entries(counted)) {
    if (name in report.counters) same(`events of ${name}`, String(events), report.counters[name]);
  }
  return differences;
}

class Audit {
  constructor(trace, onInstruction, scope) {
    this.onInstruction = onInstruction;
    const storage = (name) => trace.names.storage(`${scope}/${name}`);
    const event = (name) => trace.names.event(`${scope}/${name}`).eventTypeId;
    this.entities = storage('entities');
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
    this.counterNames = new Map();
    for (const def of trace.schema.storages) {
      if (def.numSlots === 1 && def.fields[0]?.name === 'count')
        this.counterNames.set(def.storageId, def.name);
    }
    const labels = (name) => trace.schema.enums.find((candidate) => candidate.name === name).values;
    this.stallReasons = labels('stall_reason');
    this.flushReasons = labels('flush_reason');
    this.sums = new Map([...this.counterNames.values()].map((name) => [name, 0n]));
    this.registers = new Array(this.regs.numSlots).fill(0);
    this.live = new Array(this.entities.numSlots).fill(null);
    this.latches = new Array(this.pipeline.numSlots).fill(null);
    this.problems = [];
    this.problemCount = 0;
    this.time = 0;
    this.frames = 0;
    this.items = 0;
    this.serial = 0;
    this.retired = 0;
    this.squashed = 0;
    this.stalls = Object.fromEntries(this.stallReasons.map(({ name }) => [name, 0]));
    this.flushes = Object.fromEntries(this.flushReasons.map(({ name }) => [name, 0]));
    this.flushing = null;
    this.dependencies = 0;
    this.traps = [];
    this.write = null;
  }

  visitor() {
    return {
      frame: (cursor) => this.frame(Number(cursor.timePs)),
      op: (cursor) => {
        this.items++;
        this.op(cursor);
      },
      event: (cursor) => {
        this.items++;
        this.event(cursor.eventType, cursor.payload);
      },
    };
  }

  problem(text) {
    this.problemCount++;
    if (this.problems.length < PROBLEMS_KEPT) this.problems.push(`at ${this.time} ps: ${text}`);
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
      this.registers[slot] = cursor.lo;
      this.write = { rd: slot, value: cursor.lo };
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

  count(cursor) {
    const name = this.counterNames.get(cursor.storageId);
    if (name === undefined || cursor.action !== Action.ADD)
      this.problem(`unexpected operation on storage ${cursor.storageId}`);
    else this.sums.set(name, this.sums.get(name) + cursor.value);
  }

  describe(slot, field, value) {
    const name = this.entities.fields[field].name;
    if (name === 'entity_id') {
      this.birth(slot, value);
      return;
    }
    const entity = this.live[slot];
    if (!entity || entity.bornAt !== this.time) this.problem(`${name} of entity ${slot} outside its birth`);
    else entity[name] = value;
  }

  birth(slot, id) {
    this.stores.checkBirth(id);
    if (this.live[slot]) this.problem(`entity ${slot} is born while it lives`);
    if (id !== slot) this.problem(`entity in slot ${slot} calls itself ${id}`);
    this.live[slot] = {
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
    };
  }

  end(slot) {
    const entity = this.live[slot];
    this.live[slot] = null;
    if (!entity) {
      this.problem(`entity ${slot} ends without having lived`);
      return;
    }
    const stage = entity.enteredAt.length - 1;
    const isRetired = entity.flushed === null;
    if (isRetired && stage !== STAGES - 1) this.problem(`entity ${slot} retires from stage ${stage}`);
    if (this.time <= entity.enteredAt[stage])
      this.problem(`entity ${slot} ends in the cycle in which it enters stage ${stage}`);
    if (entity.pc === null || entity.inst_bits === null || entity.text === null) {
      this.problem(`entity ${slot} has no pc, instruction or annotation`);
    }
    if (isRetired) this.retired++;
    else this.squashed++;
    const write = isRetired ? this.write : null;
    if (isRetired) this.write = null;
    this.onInstruction({ ...entity, endedAt: this.time, isRetired, write });
  }

  latch(slot, id) {
    this.latches[slot] = id;
    if (id !== null && this.live[id]?.enteredAt.length !== slot + 2) {
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

  living(id) {
    const entity = this.live[id];
    if (!entity) this.problem(`an item names entity ${id}, which does not live`);
    return entity;
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

  annotate(entity, text) {
    if (entity.text !== null) this.problem(`entity ${entity.slot} is annotated twice`);
    entity.text = text;
  }

  stall(reason) {
    const label = this.stallReasons.find(({ value }) => value === reason);
    if (label) this.stalls[label.name]++;
    else this.problem(`a stall for the unknown reason ${reason}`);
  }

  trap(entity, view) {
    if (entity.trap) this.problem(`entity ${entity.slot} traps twice`);
    const cause = view.getBigUint64(4, true);
    entity.trap = { cause, tval: view.getBigUint64(12, true), target: view.getBigUint64(20, true) };
    this.traps.push({ entity: { ...entity }, ...entity.trap });
  }

  /** The instructions squashed in one frame are squashed for one reason. */
  flush(entity, reason) {
    if (this.flushing === null) {
      this.flushing = reason;
      const label = this.flushReasons.find(({ value }) => value === reason);
      if (label) this.flushes[label.name]++;
      else this.problem(`a flush for the unknown reason ${reason}`);
    } else if (this.flushing !== reason)
      this.problem('instructions are squashed for two reasons in one cycle');
    if (entity.flushed !== null) this.problem(`entity ${entity.slot} is flushed twice`);
    entity.flushed = reason;
  }

  dependency(src, dst) {
    const producer = this.living(src);
    const consumer = this.living(dst);
    this.dependencies++;
    if (!producer || !consumer) return;
    if (producer.serial >= consumer.serial)
      this.problem(`entity ${dst} depends on ${src}, which is not older`);
    consumer.producers.push(producer.serial);
  }

  // -- end

  finish() {
    for (const entity of this.live) if (entity) this.problem(`entity ${entity.slot} never ends`);
    this.latches.forEach((id, slot) => {
      if (id !== null) this.problem(`pipeline register ${slot} is not emptied`);
    });
    if (this.problemCount > this.problems.length) {
      this.problems.push(`and ${this.problemCount - this.problems.length} more`);
    }
  }

  result() {
    const { frames, items, retired, squashed, stalls, flushes, dependencies, traps, registers, problems } =
      this;
    const counters = Object.fromEntries(this.sums);
    return {
      frames,
      items,
      born: this.serial,
      retired,
      squashed,
      stalls,
      flushes,
      dependencies,
      traps,
      counters,
      registers,
      problems,
    };
  }
}
