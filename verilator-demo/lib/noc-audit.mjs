/**
 * Reads the trace of the interconnect from end to end and holds it against how it is built (rtl/memory_bus.sv): every
 * transaction's life, queues that keep their order, one transaction in memory at a time, an arbiter that picks the port that comes
 * next. What memory performed, in its order, is gathered on the way. Types: noc-audit.d.mts.
 */

const PROBLEMS_KEPT = 20;
const Action = { SET: 1, CLEAR: 2, PROP_SET: 4 };
const STAGES = ['request', 'queue', 'memory', 'response'];
/** Cycles from handoff to completion in memory, by opcode; beats are parts of a line. */
const SERVICE = { fetch_line: 8, read_line: 8, write: 2, lr: 4, sc: 4, amo: 4 };
const LINES = new Set(['fetch_line', 'read_line']);
const KIND_COUNTER = {
  fetch_line: 'lines',
  read_line: 'lines',
  write: 'writes',
  lr: 'atomics',
  sc: 'atomics',
  amo: 'atomics',
};

/** @param {import('uscope/reader').Trace} trace */
export async function auditNoc(trace, scope = 'noc') {
  const audit = new NocAudit(trace, scope);
  await trace.scan({}, audit.visitor());
  audit.finish();
  return audit.result();
}

/** Differences between an audited trace and what the interconnect counted itself; empty when there are none. */
export function compareNocWithReport(audit, report) {
  const differences = audit.problems.map((problem) => `noc: ${problem}`);
  const same = (what, trace, bus) => {
    if (String(trace) !== String(bus)) differences.push(`noc ${what}: trace ${trace}, interconnect ${bus}`);
  };
  same('cycles', audit.counters.cycles, report.cycles);
  audit.ports.forEach((found, port) => {
    const counted = report.cores[port]?.port;
    for (const [name, value] of Object.entries(audit.counters.ports[port])) {
      same(`port ${port} ${name}`, value, counted ? counted[name] : '0');
    }
    // Counted once more, from the transactions.
    for (const [name, value] of Object.entries(found.counted)) {
      same(`port ${port} transactions: ${name}`, value, counted ? counted[name] : '0');
    }
  });
  return differences;
}

class NocAudit {
  constructor(trace, scope) {
    const storage = (name) => trace.names.storage(`${scope}/${name}`);
    const event = (name) => trace.names.event(`${scope}/${name}`).eventTypeId;
    this.period = trace.clockOf(trace.schema.scopes.find(({ name }) => name === scope).scopeId).periodPs;
    this.opcodes = trace.schema.enums.find(({ name }) => name.endsWith('noc_opcode')).values;
    this.network = storage('transactions');
    this.memory = storage('memory/transactions');
    this.handlers = new Map([
      [event('stage_transition'), (view) => this.enter(view.getUint32(0, true), view.getUint8(4))],
      [event('retry'), (view) => this.retry(view.getUint32(0, true))],
      [event('arb_decision'), (view) => this.grant(view.getUint32(0, true))],
      [event('link_credit'), (view) => this.credit(view.getUint16(0, true), view.getUint16(2, true))],
      [event('txn_handoff'), (view) => this.handoff(view.getUint32(0, true), view.getUint32(4, true))],
      [event('memory/stage_transition'), (view) => this.work(view.getUint32(0, true), view.getUint8(4))],
      [event('memory/beat'), (view) => this.beat(view.getUint32(0, true), view.getUint16(4, true))],
    ]);
    this.byStorage = new Map([
      [this.network.storageId, (cursor) => this.onNetwork(cursor)],
      [this.memory.storageId, (cursor) => this.onMemory(cursor)],
    ]);
    this.counters = { ports: [] };
    this.bindCounter(storage('cycles'), this.counters, 'cycles');
    this.bindCounter(storage('busy_cycles'), this.counters, 'busy_cycles');
    this.ports = [];
    for (let port = 0; port < 4; port++) this.bindPort(trace, scope, port);
    this.live = new Map();
    this.serving = new Map();
    this.lastGrant = this.ports.length - 1;
    this.granted = null;
    this.performed = [];
    this.latencies = [];
    this.longestWait = { port: 0, until: 0, cycles: 0 };
    this.problems = [];
    this.problemCount = 0;
    this.cycle = -1;
    this.items = 0;
    this.frames = 0;
    this.born = 0;
    this.completed = 0;
    this.opcodeCounts = Object.fromEntries(this.opcodes.map(({ name }) => [name, 0]));
  }

  bindCounter(def, into, name) {
    into[name] = 0;
    this.byStorage.set(def.storageId, (cursor) => {
      into[name] += cursor.lo;
    });
  }

  bindPort(trace, scope, port) {
    const counters = {};
    this.counters.ports.push(counters);
    const owner = trace.schema.scopes.find(({ name, parentId }) => name === `port${port}` && parentId !== 0);
    for (const def of trace.schema.storages) {
      if (def.scopeId === owner.scopeId) this.bindCounter(def, counters, def.name);
    }
    const counted = { requests: 0, grants: 0, retries: 0, wait_cycles: 0, lines: 0, writes: 0, atomics: 0 };
    const state = { queue: [], slots: new Map(), credits: 2, counted, maxWait: 0, standing: null };
    this.ports.push(state);
    const def = trace.names.storage(`${scope}/queue${port}`);
    this.byStorage.set(def.storageId, (cursor) => this.onQueue(state, port, cursor));
  }

  visitor() {
    return {
      frame: (cursor) => this.frame(Number(cursor.timePs) / this.period),
      op: (cursor) => {
        this.items++;
        this.byStorage.get(cursor.storageId)?.(cursor);
      },
      event: ({ eventType, payload }) => {
        this.items++;
        const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
        this.handlers.get(eventType)?.(view);
      },
    };
  }

  problem(text) {
    this.problemCount++;
    if (this.problems.length < PROBLEMS_KEPT) this.problems.push(`in cycle ${this.cycle}: ${text}`);
  }

  frame(cycle) {
    // In a merged trace, frames of others are next to this one's.
    if (cycle === this.cycle) return;
    if (cycle !== this.cycle + 1) this.problem(`its frame follows that of cycle ${this.cycle}`);
    this.checkCredits();
    this.cycle = cycle;
    this.frames++;
    if (this.granted && this.granted.grantedAt !== cycle - 1) this.problem('a grant without a handoff');
  }

  /** At the end of each frame: credits are the room left. */
  checkCredits() {
    this.ports.forEach(({ queue, credits }, port) => {
      if (credits !== 2 - queue.length)
        this.problem(`port ${port} has ${queue.length} in its queue and ${credits} credits`);
    });
  }

  // -- births and ends

  onNetwork(cursor) {
    const { action, slot, field, lo } = cursor;
    if (action === Action.CLEAR) this.complete(slot);
    else if (action === Action.SET) this.describe(this.live, this.network, slot, field, lo);
  }

  onMemory(cursor) {
    const { action, slot, field, lo } = cursor;
    if (action === Action.CLEAR) this.finishService(slot);
    else if (action === Action.SET) this.describe(this.serving, this.memory, slot, field, lo);
  }

  describe(live, def, slot, field, value) {
    const { name } = def.fields[field];
    if (name === 'txn_id') {
      if (live.has(slot)) this.problem(`transaction ${slot} of ${def.name} is born while it lives`);
      live.set(slot, {
        id: value,
        bornAt: this.cycle,
        stage: -1,
        enteredAt: [],
        retries: 0,
        beats: 0,
        service: null,
        parent: null,
      });
      return;
    }
    const transaction = live.get(slot);
    if (transaction?.bornAt !== this.cycle) this.problem(`${name} of transaction ${slot} outside its birth`);
    else
      transaction[name] = name === 'opcode' ? this.opcodes.find((one) => one.value === value)?.name : value;
  }

  complete(id) {
    const transaction = this.find(this.live, id, 'ends');
    if (!transaction) return;
    this.live.delete(id);
    this.completed++;
    const { opcode, stage, enteredAt } = transaction;
    if (opcode === 'write') {
      if (stage !== 2) this.problem(`write ${id} ends in stage ${STAGES[stage]}`);
    } else if (stage !== 3 || this.cycle !== enteredAt[3] + 1) {
      this.problem(
        `${opcode} ${id} ends in stage ${STAGES[stage]}, ${this.cycle - enteredAt[stage]} cycles after its begin`,
      );
    }
    if (!transaction.service?.isDone) this.problem(`${opcode} ${id} ends before memory has served it`);
    this.latencies.push({ opcode, port: transaction.src_port, cycles: this.cycle - transaction.bornAt });
  }

  find(live, id, what) {
    const transaction = live.get(id);
    if (!transaction) this.problem(`transaction ${id} ${what} and is not on its way`);
    return transaction;
  }

  // -- the life of a transaction

  enter(id, stage) {
    const transaction = this.find(this.live, id, `enters stage ${STAGES[stage]}`);
    if (!transaction) return;
    if (stage !== transaction.stage + 1)
      this.problem(`transaction ${id} enters ${STAGES[stage]} after stage ${transaction.stage}`);
    transaction.stage = stage;
    transaction.enteredAt[stage] = this.cycle;
    if (stage === 0) this.request(transaction);
    // At the port for one cycle, and one more for each time that the queue was full.
    if (stage === 1 && this.cycle - transaction.enteredAt[0] !== 1 + transaction.retries)
      this.problem(
        `transaction ${id} waited at its port for ${this.cycle - transaction.enteredAt[0]} cycles`,
      );
    if (stage === 3 && !transaction.service?.isDone)
      this.problem(`transaction ${id} has a response before its service`);
  }

  request(transaction) {
    if (transaction.bornAt !== this.cycle) this.problem(`transaction ${transaction.id} asks after its birth`);
    const port = this.ports[transaction.src_port];
    this.born++;
    this.opcodeCounts[transaction.opcode]++;
    port.counted.requests++;
    if (port.standing) this.problem(`two requests at port ${transaction.src_port}`);
    port.standing = transaction;
    const beats = LINES.has(transaction.opcode) ? 4 : 1;
    if (transaction.len !== beats)
      this.problem(`${transaction.opcode} ${transaction.id} has ${transaction.len} beats`);
  }

  retry(id) {
    const transaction = this.find(this.live, id, 'asks again');
    if (!transaction) return;
    transaction.retries++;
    const port = this.ports[transaction.src_port];
    port.counted.retries++;
    if (port.queue.length < 2)
      this.problem(`transaction ${id} finds no room in a queue of ${port.queue.length}`);
  }

  onQueue(port, number, { action, slot, lo }) {
    if (action === Action.PROP_SET) return;
    if (action === Action.CLEAR) {
      if (port.slots.get(slot) !== port.queue[0])
        this.problem(`queue ${number} gives away another than its oldest`);
      port.slots.delete(slot);
      port.queue.shift();
      return;
    }
    const transaction = this.find(this.live, lo, `enters queue ${number}`);
    if (port.slots.has(slot)) this.problem(`slot ${slot} of queue ${number} is taken`);
    if (transaction !== port.standing)
      this.problem(`transaction ${lo} enters queue ${number} without having asked`);
    port.standing = null;
    port.slots.set(slot, lo);
    port.queue.push(lo);
    if (port.queue.length > 2) this.problem(`queue ${number} holds ${port.queue.length}`);
  }

  credit(port, credits) {
    this.ports[port].credits = credits;
  }

  // -- arbitration: the oldest of the first queue, counted from the one after the port that won last

  grant(id) {
    const transaction = this.find(this.live, id, 'wins');
    if (!transaction) return;
    if (this.granted?.grantedAt === this.cycle) this.problem('two win in one cycle');
    const ports = this.ports.length;
    let next = 1;
    while (next <= ports && this.ports[(this.lastGrant + next) % ports].queue.length === 0) next++;
    const winner = (this.lastGrant + next) % ports;
    const port = this.ports[transaction.src_port];
    if (transaction.src_port !== winner)
      this.problem(`port ${transaction.src_port} wins, it was the turn of port ${winner}`);
    if (port.queue[0] !== id) this.problem(`transaction ${id} wins and is not the oldest of its queue`);
    // Memory is free, or will be at the end of this cycle.
    for (const busy of this.serving.values()) {
      if (busy.bornAt + SERVICE[busy.opcode] !== this.cycle + 1) this.problem('memory is still at work');
    }
    this.lastGrant = transaction.src_port;
    this.granted = transaction;
    transaction.grantedAt = this.cycle;
    const waited = this.cycle - transaction.bornAt + 1;
    port.counted.grants++;
    port.counted[KIND_COUNTER[transaction.opcode]]++;
    port.counted.wait_cycles += waited;
    port.maxWait = Math.max(port.maxWait, waited);
    if (waited > this.longestWait.cycles)
      this.longestWait = { port: transaction.src_port, until: this.cycle, cycles: waited };
  }

  handoff(from, to) {
    const transaction = this.find(this.live, from, 'is handed over');
    const service = this.find(this.serving, to, 'takes over');
    if (!transaction || !service) return;
    if (this.granted !== transaction || transaction.grantedAt !== this.cycle - 1)
      this.problem(`transaction ${from} is handed over and has not won in the cycle before`);
    this.granted = null;
    for (const field of ['opcode', 'addr', 'len', 'size', 'src_port']) {
      if (transaction[field] !== service[field])
        this.problem(`${field} of transaction ${from} changes as it is handed over`);
    }
    if (transaction.service) this.problem(`transaction ${from} is handed over twice`);
    transaction.service = service;
    service.parent = transaction;
  }

  // -- memory

  work(id, stage) {
    const service = this.find(this.serving, id, 'works');
    if (!service) return;
    if (stage !== service.stage + 1)
      this.problem(`service ${id} enters stage ${stage} after ${service.stage}`);
    service.stage = stage;
  }

  beat(id, beat) {
    const service = this.find(this.serving, id, 'transfers');
    if (!service) return;
    if (beat !== service.beats) this.problem(`service ${id} transfers beat ${beat} after ${service.beats}`);
    service.beats++;
    if (service.beats === service.len) {
      const { opcode, addr, src_port: port } = service;
      this.performed.push({ cycle: this.cycle, port, opcode, addr });
    }
  }

  finishService(id) {
    const service = this.find(this.serving, id, 'is done');
    if (!service) return;
    this.serving.delete(id);
    if (!service.parent) this.problem(`service ${id} belongs to no transaction`);
    if (service.beats !== service.len) this.problem(`service ${id} is done after ${service.beats} beats`);
    const took = this.cycle - service.bornAt;
    if (took !== SERVICE[service.opcode])
      this.problem(`${service.opcode} ${id} took ${took} cycles in memory`);
    service.isDone = true;
  }

  // -- end

  finish() {
    this.checkCredits();
    if (this.live.size > 0) this.problem(`${this.live.size} transactions never end`);
    if (this.serving.size > 0) this.problem(`${this.serving.size} stay in memory`);
    if (this.problemCount > this.problems.length)
      this.problems.push(`and ${this.problemCount - this.problems.length} more`);
  }

  result() {
    const {
      frames,
      items,
      born,
      completed,
      opcodeCounts,
      performed,
      latencies,
      counters,
      problems,
      longestWait,
    } = this;
    const ports = this.ports.map(({ counted, maxWait }) => ({ counted, maxWait }));
    return {
      frames,
      items,
      born,
      completed,
      opcodeCounts,
      performed,
      latencies,
      counters,
      ports,
      problems,
      longestWait,
    };
  }
}
