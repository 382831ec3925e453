/** What the audits of traces share: problems, items in their order, and the lives of a core's instructions. */

const PROBLEMS_KEPT = 20;
/** mcause of an interrupt has the highest bit set. */
const INTERRUPT = 0x8000_0000n;
export const Action = { SET: 1, CLEAR: 2, ADD: 3, PROP_SET: 4 };

/** Scans a trace from end to end; subclasses have `frame`, `op`, `event` and `finish`. */
export class TraceAudit {
  problems = [];
  problemCount = 0;
  time = 0;
  frames = 0;
  items = 0;

  async run(trace) {
    await trace.scan(
      {},
      {
        frame: (cursor) => this.frame(Number(cursor.timePs)),
        op: (cursor) => {
          this.items++;
          this.op(cursor);
        },
        event: (cursor) => {
          this.items++;
          this.event(cursor.eventType, cursor.payload);
        },
      },
    );
    this.finish();
    if (this.problemCount > this.problems.length)
      this.problems.push(`and ${this.problemCount - this.problems.length} more`);
    return this.result();
  }

  problem(text) {
    this.problemCount++;
    if (this.problems.length < PROBLEMS_KEPT) this.problems.push(`at ${this.time} ps: ${text}`);
  }
}

/** A core: its counters, registers and instructions. */
export class CoreAudit extends TraceAudit {
  /** Slot -> the instruction in it. */
  live = new Map();
  serial = 0;
  retired = 0;
  squashed = 0;
  dependencies = 0;
  traps = [];
  /** The register that an instruction has written in this cycle. */
  write = null;

  /** @param uncounted storages of one `count` that are no counters */
  constructor(trace, onInstruction, scope, uncounted = []) {
    super();
    this.onInstruction = onInstruction;
    this.storage = (name) => trace.names.storage(`${scope}/${name}`);
    this.entities = this.storage('entities');
    this.registers = new Array(32).fill(0);
    const counters = trace.schema.storages.filter(
      ({ numSlots, fields, name }) =>
        numSlots === 1 && fields[0]?.name === 'count' && !uncounted.includes(name),
    );
    this.counterNames = new Map(counters.map(({ storageId, name }) => [storageId, name]));
    this.sums = new Map(counters.map(({ name }) => [name, 0n]));
    const labels = (name) => trace.schema.enums.find((candidate) => candidate.name === name).values;
    this.stallReasons = labels('stall_reason');
    this.flushReasons = labels('flush_reason');
    this.stalls = Object.fromEntries(this.stallReasons.map(({ name }) => [name, 0]));
    this.flushes = Object.fromEntries(this.flushReasons.map(({ name }) => [name, 0]));
  }

  count(cursor) {
    const name = this.counterNames.get(cursor.storageId);
    if (name === undefined || cursor.action !== Action.ADD)
      this.problem(`unexpected operation on storage ${cursor.storageId}`);
    else this.sums.set(name, this.sums.get(name) + cursor.value);
  }

  setRegister({ slot, lo }) {
    this.registers[slot] = lo;
    this.write = { rd: slot, value: lo };
  }

  living(id) {
    const entity = this.live.get(id);
    if (!entity) this.problem(`an item names entity ${id}, which does not live`);
    return entity;
  }

  /** An instruction is complete and ends. What did not retire has written nothing. */
  ends(entity, isRetired, rest = {}) {
    if (entity.pc === null || entity.inst_bits === null || entity.text === null)
      this.problem(`entity ${entity.slot} has no pc, instruction or annotation`);
    if (isRetired) this.retired++;
    else this.squashed++;
    const write = isRetired ? this.write : null;
    if (isRetired) this.write = null;
    this.onInstruction({ ...entity, endedAt: this.time, isRetired, write, ...rest });
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

  flushFor(reason) {
    const label = this.flushReasons.find(({ value }) => value === reason);
    if (label) this.flushes[label.name]++;
    else this.problem(`a flush for the unknown reason ${reason}`);
  }

  squash(entity, reason) {
    if (entity.flushed !== null) this.problem(`entity ${entity.slot} is flushed twice`);
    entity.flushed = reason;
  }

  trap(entity, view) {
    if (entity.trap) this.problem(`entity ${entity.slot} traps twice`);
    const cause = view.getBigUint64(4, true);
    entity.trap = { cause, tval: view.getBigUint64(12, true), target: view.getBigUint64(20, true) };
    this.traps.push({ entity: { ...entity }, ...entity.trap });
  }

  /** @returns the consumer; null when one of the two does not live */
  dependency(src, dst) {
    const producer = this.living(src);
    const consumer = this.living(dst);
    this.dependencies++;
    if (!producer || !consumer) return null;
    if (producer.serial >= consumer.serial)
      this.problem(`entity ${dst} depends on ${src}, which is not older`);
    consumer.producers.push(producer.serial);
    return consumer;
  }

  finish() {
    for (const { slot } of this.live.values()) this.problem(`entity ${slot} never ends`);
  }

  result() {
    const { frames, items, retired, squashed, stalls, flushes, dependencies, traps, registers, problems } =
      this;
    const totals = { frames, items, born: this.serial, retired, squashed, dependencies };
    return {
      ...totals,
      stalls,
      flushes,
      traps,
      counters: Object.fromEntries(this.sums),
      registers,
      problems,
    };
  }
}

/** Differences between an audited trace and the core's own report, and `same`, which adds one. */
export function compareCore(audit, { counters, registers }) {
  const differences = audit.problems.map((problem) => `trace: ${problem}`);
  const same = (what, trace, core) => {
    if (String(trace) !== String(core)) differences.push(`${what}: trace ${trace}, core ${core}`);
  };
  for (const [name, value] of Object.entries(counters))
    same(`counter ${name}`, audit.counters[name] ?? 'none', value);
  registers.forEach((value, index) => {
    same(`register x${index}`, audit.registers[index], value);
  });
  same('instructions retired', audit.retired, counters.committed_insns);
  same('instructions squashed', audit.squashed, counters.squashed_insns);
  same('instructions born', audit.born, counters.fetched_insns);
  same('instructions born = retired + squashed', audit.born, audit.retired + audit.squashed);
  // Counted once more, from the events.
  const counted = {
    ...Object.fromEntries(
      Object.entries(audit.stalls).map(([reason, events]) => [`stalls_${reason}`, events]),
    ),
    exceptions: audit.traps.filter(({ cause }) => cause < INTERRUPT).length,
    interrupts: audit.traps.filter(({ cause }) => cause >= INTERRUPT).length,
  };
  for (const [name, events] of Object.entries(counted))
    if (name in counters) same(`events of ${name}`, events, counters[name]);
  return { differences, same };
}
