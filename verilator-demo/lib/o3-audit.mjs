/**
 * Holds a trace of the out-of-order core against the rules of the `cpu` protocol and of the core: lives and stages of instructions, in
 * which order they retire, what is in which queue, where heads and tails are, the physical registers. What it counts in the events, and
 * every counter and register, must equal the core's own report. Types: o3-audit.d.mts.
 */

import { Action, CoreAudit, compareCore } from './audit-base.mjs';

export const Stage = { FETCH: 0, DECODE: 1, ISSUE: 2, EXECUTE: 3, MEMORY: 4, COMPLETE: 5 };
const WIDTH = 2;
const RAM_BASE = 0x8000_0000n;
/** Queues in program order; issue queues have no order. */
const ORDERED = ['fetch_buffer', 'rob', 'load_queue', 'store_queue'];
const UNORDERED = ['int_queue', 'muldiv_queue', 'mem_queue'];
/** An instruction is in one of these exactly in these stages. */
const WHERE = {
  fetch_buffer: [Stage.DECODE],
  rob: [Stage.ISSUE, Stage.EXECUTE, Stage.MEMORY, Stage.COMPLETE],
};

/** @param {import('uscope/reader').Trace} trace */
export function auditO3(trace, onInstruction = () => {}, scope = 'core0') {
  return new Audit(trace, onInstruction, scope).run(trace);
}

/** Differences between an audited trace and the core's own report; empty when there are none. */
export function compareO3(audit, report) {
  const { counters } = report;
  const { differences, same } = compareCore(audit, report);
  same('events replay', audit.replays, counters.replays);
  same('events load_retry', audit.retries, counters.load_retries);
  const slots = Object.keys(counters).filter((name) => name.startsWith('slots_'));
  const sum = slots.reduce((total, name) => total + BigInt(counters[name]), 0n);
  same('dispatch slots', sum, BigInt(WIDTH) * BigInt(counters.cycles));
  return differences;
}

class Audit extends CoreAudit {
  constructor(trace, onInstruction, scope) {
    super(trace, onInstruction, scope, ['free_registers']);
    const { storage } = this;
    const event = (name) => trace.names.event(`${scope}/${name}`).eventTypeId;
    this.queues = new Map(
      [...ORDERED, ...UNORDERED].map((name) => [storage(name).storageId, new Queue(name, storage(name))]),
    );
    this.byName = Object.fromEntries([...this.queues.values()].map((queue) => [queue.name, queue]));
    this.ids = Object.fromEntries(
      ['regs', 'map', 'free_registers', 'mshrs'].map((name) => [name, storage(name).storageId]),
    );
    this.events = new Map(
      ['stage_transition', 'annotate', 'dependency', 'flush', 'stall', 'trap', 'replay', 'load_retry'].map(
        (name) => [event(name), name],
      ),
    );
    this.map = Array.from({ length: 32 }, (_, register) => register);
    this.mshrs = new Array(storage('mshrs').numSlots).fill(null);
    Object.assign(this, { replays: 0, retries: 0, lastRetired: -1, mapMoved: false, most: {}, free: null });
  }

  frame(time) {
    if (this.frames > 0) this.endFrame();
    if (this.frames > 0 && time <= this.time) this.problem(`a frame follows one at ${this.time} ps`);
    this.time = time;
    this.frames++;
  }

  /** What holds at the end of each cycle. */
  endFrame() {
    if (this.write) this.problem('a register was written, but no instruction retired');
    this.write = null;
    for (const queue of this.queues.values()) {
      for (const text of queue.endFrame()) this.problem(text);
      this.most[queue.name] = Math.max(this.most[queue.name] ?? 0, queue.count);
    }
    this.most.mshrs = Math.max(this.most.mshrs ?? 0, this.mshrs.filter((line) => line !== null).length);
    const inBuffer = this.byName.fetch_buffer.count;
    if (this.byName.rob.count + inBuffer > this.live.size)
      this.problem(`${this.live.size} instructions live, but the queues hold more`);
    if (this.mapMoved && new Set(this.map).size !== 32)
      this.problem('two registers have one physical register');
    this.mapMoved = false;
  }

  // -- operations

  op(cursor) {
    const { storageId, action, slot } = cursor;
    const queue = this.queues.get(storageId);
    if (queue) this.queueOp(queue, cursor);
    else if (storageId === this.entities.storageId) {
      if (action === Action.CLEAR) this.end(slot);
      else this.describe(slot, this.entities.fields[cursor.field].name, cursor.lo);
    } else if (storageId === this.ids.regs) {
      this.setRegister(cursor);
    } else if (storageId === this.ids.map) {
      this.map[slot] = cursor.lo;
      this.mapMoved = true;
    } else if (storageId === this.ids.free_registers) this.free = cursor.lo;
    else if (storageId === this.ids.mshrs) this.mshr(slot, action === Action.CLEAR ? null : cursor.value);
    else this.count(cursor);
  }

  mshr(slot, line) {
    if (line !== null && this.mshrs[slot] !== null) this.problem(`MSHR ${slot} is taken twice`);
    if (line === null && this.mshrs[slot] === null) this.problem(`MSHR ${slot} is freed, and was free`);
    if (line !== null && this.mshrs.includes(line)) this.problem(`two MSHRs wait for line ${line}`);
    this.mshrs[slot] = line;
  }

  queueOp(queue, cursor) {
    const { action, slot } = cursor;
    if (action === Action.PROP_SET) {
      queue.point(cursor.field, cursor.lo);
      return;
    }
    const text =
      action === Action.CLEAR ? queue.clear(slot) : queue.set(slot, queue.fields[cursor.field], cursor.value);
    if (text) this.problem(text);
    const entry = queue.slots[slot];
    if (action === Action.CLEAR || queue.fields[cursor.field] !== 'entity_id') {
      if (entry && queue.name === 'store_queue') this.store(entry, queue.fields[cursor.field]);
      return;
    }
    const entity = this.living(entry.entity);
    if (entity && queue.name !== 'fetch_buffer' && entity.queues.includes(queue.name))
      this.problem(`entity ${entry.entity} enters the ${queue.name} twice`);
    entity?.queues.push(queue.name);
  }

  /** What a store writes into memory is known as soon as its address is. Devices are not memory. */
  store(entry, field) {
    if (field !== 'strobe' || entry.addr < RAM_BASE) return;
    const entity = this.living(entry.entity);
    const [addr, data, strobe] = [entry.addr, entry.data, entry.strobe].map(Number);
    if (entity) entity.store = { addr, data, strobe };
  }

  describe(slot, field, value) {
    if (field !== 'entity_id') {
      const entity = this.live.get(slot);
      if (!entity || entity.bornAt !== this.time)
        this.problem(`${field} of entity ${slot} outside its birth`);
      else entity[field] = value;
      return;
    }
    if (this.live.has(slot)) this.problem(`entity ${slot} is born while it lives`);
    if (this.byName.store_queue.holds(slot))
      this.problem(`entity ${slot} is born while a store of its predecessor waits`);
    const enteredAt = new Array(6).fill(null);
    const nothing = {
      pc: null,
      inst_bits: null,
      text: null,
      stage: -1,
      flushed: null,
      trap: null,
      store: null,
    };
    this.live.set(slot, {
      serial: this.serial++,
      slot,
      bornAt: this.time,
      enteredAt,
      producers: [],
      queues: [],
      ...nothing,
    });
  }

  end(slot) {
    const entity = this.living(slot);
    if (!entity) return;
    this.live.delete(slot);
    const isRetired = entity.flushed === null;
    if (isRetired && entity.stage !== Stage.COMPLETE)
      this.problem(`entity ${slot} retires from stage ${entity.stage}`);
    if (isRetired && entity.serial <= this.lastRetired)
      this.problem(`entity ${slot} retires after a younger one`);
    if (isRetired) this.lastRetired = entity.serial;
    this.ends(entity, isRetired, { store: isRetired ? entity.store : null });
  }

  // -- events

  event(type, payload) {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const name = this.events.get(type);
    if (name === 'stall') this.stall(payload[0]);
    else if (name === 'dependency') this.dependency(view.getUint32(0, true), view.getUint32(4, true));
    else {
      const entity = this.living(view.getUint32(0, true));
      if (!entity) return;
      if (name === 'stage_transition') this.enter(entity, payload[4]);
      else if (name === 'annotate') this.annotate(entity, view.getUint32(4, true));
      else if (name === 'flush') this.flush(entity, payload[4]);
      else if (name === 'trap') this.trap(entity, view);
      else if (name === 'replay') this.replay(entity);
      else if (name === 'load_retry') this.retry(entity);
    }
  }

  enter(entity, stage) {
    if (stage <= entity.stage)
      this.problem(`entity ${entity.slot} enters stage ${stage} after ${entity.stage}`);
    if (entity.stage >= 0 && this.time <= entity.enteredAt[entity.stage])
      this.problem(`entity ${entity.slot} enters two stages in one cycle`);
    for (const [queue, stages] of Object.entries(WHERE)) {
      const isIn = this.byName[queue].holds(entity.slot);
      if (stages.includes(stage) !== isIn && stage !== Stage.FETCH)
        this.problem(
          `entity ${entity.slot} enters stage ${stage}, ${isIn ? 'and is' : 'but is not'} in ${queue}`,
        );
    }
    entity.stage = stage;
    entity.enteredAt[stage] = this.time;
  }

  replay(entity) {
    this.replays++;
    if (entity.stage !== Stage.ISSUE)
      this.problem(`entity ${entity.slot} is replayed in stage ${entity.stage}`);
  }

  retry(entity) {
    this.retries++;
    if (entity.stage !== Stage.MEMORY)
      this.problem(`entity ${entity.slot} is retried in stage ${entity.stage}`);
  }

  flush(entity, reason) {
    this.squash(entity, reason);
    this.flushFor(reason);
  }

  dependency(src, dst) {
    const consumer = super.dependency(src, dst);
    if (consumer && consumer.stage !== Stage.ISSUE)
      this.problem(`entity ${dst} is woken in stage ${consumer.stage}`);
  }

  // -- end

  finish() {
    this.endFrame();
    super.finish();
    for (const name of [...UNORDERED, 'rob', 'load_queue', 'fetch_buffer'])
      if (this.byName[name].count > 0) this.problem(`${name} is not emptied`);
  }

  result() {
    const { replays, retries, most, free } = this;
    return { ...super.result(), replays, retries, most, free };
  }
}

/** A buffer: who is in which slot, and where its head and tail are. */
class Queue {
  constructor(name, def) {
    this.name = name;
    this.fields = def.fields.map((field) => field.name);
    this.properties = def.properties.map((property) => property.name);
    this.slots = new Array(def.numSlots).fill(null);
    this.count = 0;
    this.head = 0;
    this.tail = 0;
    this.touched = false;
    this.entitiesIn = new Map();
  }

  holds(entity) {
    return (this.entitiesIn.get(entity) ?? 0) > 0;
  }

  set(slot, field, value) {
    this.touched = true;
    if (field !== 'entity_id') {
      if (!this.slots[slot]) return `${field} of slot ${slot} of the ${this.name}, which is empty`;
      this.slots[slot][field] = value;
      return null;
    }
    const taken = this.slots[slot] !== null;
    const entity = Number(value);
    this.slots[slot] = { entity };
    this.entitiesIn.set(entity, (this.entitiesIn.get(entity) ?? 0) + 1);
    this.count++;
    return taken ? `slot ${slot} of the ${this.name} is taken twice` : null;
  }

  clear(slot) {
    this.touched = true;
    const entry = this.slots[slot];
    if (!entry) return `slot ${slot} of the ${this.name} is cleared, and was empty`;
    this.entitiesIn.set(entry.entity, this.entitiesIn.get(entry.entity) - 1);
    this.slots[slot] = null;
    this.count--;
    return null;
  }

  point(property, value) {
    this.touched = true;
    this[this.properties[property]] = value;
  }

  /** A queue in order is taken from its head to its tail. */
  endFrame() {
    if (!this.touched || !ORDERED.includes(this.name)) return [];
    this.touched = false;
    const size = this.slots.length;
    const length = (this.tail - this.head + size) % size;
    if (this.count % size !== length)
      return [`the ${this.name} holds ${this.count}, its head is ${this.head}, its tail ${this.tail}`];
    for (let i = 0; i < this.count; i++)
      if (!this.slots[(this.head + i) % size]) return [`the ${this.name} has a hole after its head`];
    return [];
  }
}
