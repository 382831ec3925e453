/**
 * The trace of a pipeline against a log of the core's own registers: in each cycle, which instruction is in which stage and what is in the
 * buffers; at the end, branches and counters. The first line of the log names its columns: a stage, or `buffer[slot].field`. An entry is a
 * number in hex, `-` where nothing is, `?` where the core does not say.
 */
const SHOWN = 5;
/** Cycles of the log without a frame: the first and the last may be cut. */
const CUT_CYCLES = 2;
const [SET, CLEAR] = [1, 2];

export async function comparePipeline(trace, log) {
  const [head, ...lines] = log.trimEnd().split('\n');
  const columns = head.split(' ').slice(1);
  const cycles = new Map(lines.filter((line) => !line.startsWith('counters')).map(entry));
  const follower = new Follower(trace, columns);
  const differences = [];
  let compared = 0;
  let different = 0;
  await trace.scan(
    {},
    follower.visitor((cycle, found) => {
      const expected = cycles.get(cycle);
      if (!expected) return;
      cycles.delete(cycle);
      columns.forEach((name, i) => {
        if (expected[i] === '?') return;
        compared++;
        const want = expected[i] === '-' ? null : Number.parseInt(expected[i], 16);
        if (found[i] === want) return;
        different++;
        if (differences.length < SHOWN) differences.push({ cycle, name, trace: found[i], log: want });
      });
    }),
  );
  if (cycles.size > CUT_CYCLES) {
    different += cycles.size;
    differences.push({ name: 'cycles without a frame', trace: 0, log: cycles.size });
  }
  for (const [name, value] of countersOf(lines)) {
    const last = await trace.stateAt(trace.totalTimePs);
    const counted = Number(last.slotField(`core0/${name}`, 0, 'count'));
    compared++;
    if (counted === value) continue;
    different++;
    differences.push({ name, trace: counted, log: value });
  }
  return { compared, differences: different, shown: differences, branches: follower.branches };
}

const entry = (line) => {
  const [cycle, ...values] = line.split(' ');
  return [Number(cycle), values];
};

function countersOf(lines) {
  const line = lines.find((one) => one.startsWith('counters '));
  if (!line) return [];
  return line
    .split(' ')
    .slice(1)
    .map((pair) => pair.split('='))
    .map(([name, value]) => [name, Number(value)]);
}

/** Follows stages and buffers through a trace, and gives at the end of each cycle what is in the columns. */
class Follower {
  constructor(trace, columns) {
    this.entities = trace.names.storage('core0/entities');
    this.period = 1000;
    this.alive = new Map();
    this.branches = [];
    this.buffers = new Map();
    this.events = new Map(
      ['stage_transition', 'trap', 'branch'].map((name) => [
        trace.names.event(`core0/${name}`).eventTypeId,
        name,
      ]),
    );
    this.stageNames = trace.dutProperty('cpu.pipeline_stages').split(',');
    this.columns = columns.map((name) => this.column(trace, name));
  }

  column(trace, name) {
    const part = /^(\w+)\[(\d+)\]\.(\w+)$/.exec(name);
    if (!part) return { stage: this.stageNames.indexOf(name) };
    const storage = trace.names.storage(`core0/${part[1]}`);
    this.buffers.set(storage.storageId, new Map());
    const field = storage.fields.findIndex((one) => one.name === part[3]);
    return { storage: storage.storageId, slot: Number(part[2]), field };
  }

  visitor(atEnd) {
    let cycle = null;
    const finish = () => {
      if (cycle !== null) atEnd(cycle, this.found());
    };
    return {
      frame: ({ timePs }) => {
        finish();
        cycle = Number(timePs) / this.period;
      },
      op: (cursor) => this.op(cursor),
      event: ({ eventType, payload }) => this.event(this.events.get(eventType), payload),
    };
  }

  op({ storageId, action, slot, field, lo }) {
    if (storageId === this.entities.storageId) {
      if (action === CLEAR) this.alive.delete(slot);
      else if (action === SET && field === 0) this.alive.set(slot, { pc: 0, stage: -1 });
      else if (action === SET && field === 1) this.alive.get(slot).pc = lo;
      return;
    }
    const buffer = this.buffers.get(storageId);
    if (!buffer) return;
    if (action === CLEAR) buffer.delete(slot);
    else if (action === SET) buffer.set(slot, { ...buffer.get(slot), [field]: lo });
  }

  event(name, payload) {
    if (!name) return;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const one = this.alive.get(view.getUint32(0, true));
    if (name === 'stage_transition') one.stage = view.getUint8(4);
    else if (name === 'branch') this.branches.push({ pc: one.pc, taken: view.getUint8(4) === 1 });
  }

  found() {
    return this.columns.map(({ stage, storage, slot, field }) => {
      if (storage !== undefined) return this.buffers.get(storage).get(slot)?.[field] ?? null;
      for (const one of this.alive.values()) if (one.stage === stage) return one.pc;
      return null;
    });
  }
}
