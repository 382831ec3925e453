/** One core: is what its trace says of instructions, stages, accesses and counters plausible? */
import type { FrameCursor } from '../../format/frame.js';
import { Action, type EventDef, type Schema, type StorageDef } from '../../format/types.js';
import { CPU, isReadable } from '../../protocols/index.js';
import {
  INSTRUCTION_CLASSES,
  type InstructionClass,
  InstructionClassifier,
} from '../../semantics/cpu/analysis/instruction-class.js';
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { payloadField, readField } from '../../semantics/cpu/payload-field.js';
import { instructionLength } from '../../semantics/cpu/riscv/isa.js';
import { CAUSES } from './causes.js';
import { compareCounters } from './counters.js';
import { Cases, type DoctorFinding, many } from './finding.js';
import { idReader, type Life, Lives } from './lives.js';

/** Lives, and entries of buffers, that are longer than this are looked at, in cycles. */
const LONG_CYCLES = 1000n;
const READS: ReadonlySet<InstructionClass> = new Set(['load', 'float load', 'atomic', 'vector', 'other']);
const WRITES: ReadonlySet<InstructionClass> = new Set(['store', 'float store', 'atomic', 'vector', 'other']);
/** After these the next instruction may be anywhere. */
const LEAVES: ReadonlySet<InstructionClass> = new Set(['branch', 'jump', 'system', 'other']);

type Handler = (cursor: FrameCursor) => void;

export class CoreExamination {
  private readonly lives: Lives;
  private readonly classifier: InstructionClassifier | null;
  private readonly handlers = new Map<number, Handler>();
  private readonly counters = new Map<number, string>();
  private readonly buffers = new Map<number, StorageDef>();
  private readonly entries = new Map<string, { readonly id: number; readonly timePs: bigint }>();
  private readonly sums = new Map<string, bigint>();
  private readonly classes = new Map<InstructionClass, number>();
  private readonly stalls = new Map<string, number>();
  private retired = 0;
  private squashed = 0;
  private lastSerial = -1;
  private expectedPc: bigint | null = null;
  /** The instruction before it has 2 bytes. */
  private wasCompressed = false;
  private readonly late = new Cases();
  private readonly jumps = new Cases();
  private readonly wide = new Cases();
  private readonly falseReads = new Cases();
  private readonly falseWrites = new Cases();
  private timePs = 0n;
  private pending: { readonly life: Life; readonly isRead: boolean }[] = [];

  constructor(
    private readonly core: CpuCore,
    schema: Schema,
  ) {
    this.lives = new Lives(core, (life, timePs) => this.end(life, timePs));
    this.classifier = core.xlen === null ? null : new InstructionClassifier(core.xlen);
    for (const def of core.counters) {
      this.counters.set(def.storageId, def.name);
      this.sums.set(def.name, 0n);
    }
    for (const def of core.buffers) this.buffers.set(def.storageId, def);
    this.handleEvents(schema.events.filter(({ scopeId }) => scopeId === core.scopeId));
  }

  private handleEvents(events: readonly EventDef[]): void {
    const { core, lives } = this;
    const on = (
      name: 'stage_transition' | 'flush' | 'trap',
      apply: (life: Life, cursor: FrameCursor) => void,
    ): void => {
      const idOf = idReader(core, name);
      const type = core.events.get(name)?.def.eventTypeId;
      if (!idOf || type === undefined) return;
      this.handlers.set(type, (cursor) =>
        lives.event(idOf(cursor), `event ${name}`, (life) => apply(life, cursor)),
      );
    };
    const stageEvent = core.events.get('stage_transition');
    const stage = stageEvent && payloadField(stageEvent, 'stage');
    on('stage_transition', (life, cursor) => {
      if (stage) life.stage = core.stages[core.stageOf(readField(cursor, stage))] ?? null;
    });
    on('flush', (life) => {
      life.isFlushed = true;
    });
    on('trap', () => {
      this.expectedPc = null;
    });
    this.handleStalls();
    for (const def of events) {
      if (def.name === 'interrupt') this.handlers.set(def.eventTypeId, () => this.leave());
      if (def.name !== 'mem_read' && def.name !== 'mem_write') continue;
      if (isReadable(def, CPU.events[def.name]) && def.fields[0]?.name === CPU.id)
        this.handlers.set(def.eventTypeId, (cursor) => this.access(cursor, def.name === 'mem_read'));
    }
  }

  /** An interrupt comes in front of the instruction of its frame. */
  private leave(): void {
    this.expectedPc = null;
    this.interruptedAt = this.timePs;
  }
  private interruptedAt = -1n;

  private handleStalls(): void {
    const event = this.core.events.get('stall');
    const reason = event && payloadField(event, 'reason');
    const labels = event?.fields.get('reason')?.labels;
    if (!event || !reason || !labels) return;
    for (const { name } of labels.values) this.stalls.set(name, 0);
    this.handlers.set(event.def.eventTypeId, (cursor) => {
      const value = readField(cursor, reason);
      const name = labels.values.find((label) => label.value === value)?.name;
      if (name !== undefined) this.stalls.set(name, (this.stalls.get(name) ?? 0) + 1);
    });
  }

  frame(timePs: bigint): void {
    this.settle();
    this.lives.frame(timePs);
    this.timePs = timePs;
  }

  /** Accesses are judged when the frame has said what the instruction is. */
  private settle(): void {
    for (const { life, isRead } of this.pending) this.judgeAccess(life, isRead);
    this.pending = [];
  }

  op(cursor: FrameCursor): void {
    const { storageId } = cursor;
    if (storageId === this.core.entities?.def.storageId) this.lives.op(cursor);
    else if (this.counters.has(storageId)) this.count(cursor);
    else if (this.buffers.has(storageId)) this.buffer(cursor);
  }

  event(cursor: FrameCursor): void {
    this.handlers.get(cursor.eventType)?.(cursor);
  }

  private count({ storageId, action, value }: FrameCursor): void {
    const name = this.counters.get(storageId) as string;
    if (action === Action.ADD) this.sums.set(name, (this.sums.get(name) ?? 0n) + value);
    else if (action === Action.SET) this.sums.set(name, value);
  }

  private buffer({ storageId, action, slot, field, lo }: FrameCursor): void {
    const key = `${storageId} ${slot}`;
    const def = this.buffers.get(storageId) as StorageDef;
    if (action === Action.CLEAR) this.entries.delete(key);
    else if (action === Action.SET && def.fields[field]?.name === 'entity_id')
      this.entries.set(key, { id: lo, timePs: this.timePs });
  }

  private access(cursor: FrameCursor, isRead: boolean): void {
    const at = cursor.payloadOffset;
    const id = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset).getUint32(at, true);
    this.lives.event(id, `event ${isRead ? 'mem_read' : 'mem_write'}`, (life) =>
      this.pending.push({ life, isRead }),
    );
  }

  private classOf(life: Life): InstructionClass {
    return INSTRUCTION_CLASSES[this.classifier?.classOf(life.bits) ?? -1] ?? 'other';
  }

  private judgeAccess(life: Life, isRead: boolean): void {
    if (!this.classifier) return;
    const what = this.classOf(life);
    const cases = isRead ? this.falseReads : this.falseWrites;
    if (!(isRead ? READS : WRITES).has(what)) cases.add(this.timePs, `${hex(life.pc)} is of class ${what}`);
  }

  private end(life: Life, timePs: bigint): void {
    if (life.isFlushed) {
      this.squashed++;
      return;
    }
    this.retired++;
    const what = this.classOf(life);
    this.classes.set(what, (this.classes.get(what) ?? 0) + 1);
    if (life.serial < this.lastSerial) this.late.add(timePs, `${hex(life.pc)} was born at ${life.bornPs} ps`);
    this.lastSerial = Math.max(this.lastSerial, life.serial);
    if (!this.classifier) return;
    const interrupted = this.interruptedAt >= life.bornPs;
    const { expectedPc } = this;
    if (expectedPc !== null && !interrupted && life.pc !== expectedPc) {
      const isWide = this.wasCompressed && life.pc === expectedPc + 2n;
      const cases = isWide ? this.wide : this.jumps;
      cases.add(timePs, `${hex(life.pc)} follows, ${hex(expectedPc)} was next`);
    }
    const length = instructionLength(life.bits);
    this.wasCompressed = length === 2;
    this.expectedPc = LEAVES.has(what) ? null : life.pc + BigInt(length);
  }

  /** @param isComplete nothing is missing at the end */
  findings(isComplete: boolean, cycles: bigint): DoctorFinding[] {
    this.settle();
    this.lives.settle();
    const { name } = this.core;
    const { reused, strangers, unknownEnds } = this.lives;
    return [
      ...this.falseReads.finding(
        'loads',
        name,
        (c) => `${many(c.count, 'event')} mem_read of instructions that do not read memory; ${c.example}`,
        CAUSES.reads,
      ),
      ...this.falseWrites.finding(
        'loads',
        name,
        (c) => `${many(c.count, 'event')} mem_write of instructions that do not write memory; ${c.example}`,
        CAUSES.writes,
      ),
      ...(isComplete ? this.endless() : []),
      ...reused.finding(
        'ids',
        name,
        (c) => `${many(c.count, 'id')} given to an instruction while another one has it; first ${c.example}`,
        CAUSES.reused,
      ),
      ...strangers.finding(
        'ids',
        name,
        (c) => `${many(c.count, 'event')} about ids that no instruction has; ${c.example}`,
        CAUSES.strangers,
      ),
      ...unknownEnds.finding(
        'ids',
        name,
        (c) => `${many(c.count, 'slot')} of entities cleared that held no instruction; first ${c.example}`,
        CAUSES.unknownEnds,
      ),
      ...(isComplete ? this.staleEntries() : []),
      ...this.late.finding(
        'order',
        name,
        (c) => `${many(c.count, 'instruction')} retired after a younger one; ${c.example}`,
        CAUSES.order,
      ),
      ...this.jumps.finding(
        'flow',
        name,
        (c) =>
          `${many(c.count, 'instruction')} retired at a pc that does not follow from the one before; ${c.example}`,
        CAUSES.flow,
      ),
      ...this.wide.finding(
        'width',
        name,
        (c) => `${many(c.count, 'instruction')} of 2 bytes followed at a distance of 4; ${c.example}`,
        CAUSES.width,
      ),
      ...this.counted(cycles),
    ];
  }

  private isLong(lengthPs: bigint): boolean {
    const { periodPs } = this.core;
    return lengthPs > LONG_CYCLES * (periodPs > 0n ? periodPs : 1n) && lengthPs > 4n * this.lives.longestPs;
  }

  /** By stage, instructions that are still in it at the end. */
  private endless(): DoctorFinding[] {
    const stages = new Map<string, Cases>();
    for (const life of this.lives.alive.values()) {
      if (!this.isLong(this.timePs - life.bornPs)) continue;
      const stage = life.stage ?? 'no stage';
      const cases = stages.get(stage) ?? new Cases();
      cases.add(life.bornPs, `${hex(life.pc)}, born at ${life.bornPs} ps`);
      stages.set(stage, cases);
    }
    return [...stages].flatMap(([stage, cases]) =>
      cases.finding(
        'stages',
        this.core.name,
        (c) => `${many(c.count, 'instruction')} never left ${stage}; first ${c.example}`,
        CAUSES.stages,
      ),
    );
  }

  /** Slots of buffers whose instruction has ended long ago. */
  private staleEntries(): DoctorFinding[] {
    const stale = new Map<string, Cases>();
    for (const [key, { id, timePs }] of this.entries) {
      const [storageId, slot] = key.split(' ').map(Number);
      if (this.lives.alive.get(id)?.id === id || !this.isLong(this.timePs - timePs)) continue;
      const buffer = this.buffers.get(storageId as number)?.name ?? '';
      const cases = stale.get(buffer) ?? new Cases();
      cases.add(timePs, `slot ${slot} with id ${id}, taken at ${timePs} ps`);
      stale.set(buffer, cases);
    }
    return [...stale].flatMap(([buffer, cases]) =>
      cases.finding(
        'ids',
        this.core.name,
        (c) =>
          `${many(c.count, 'slot')} of ${buffer} never cleared, whose instructions have ended; first ${c.example}`,
        CAUSES.entries,
      ),
    );
  }

  private counted(cycles: bigint): DoctorFinding[] {
    const { sums, classes, stalls, retired, squashed, lives } = this;
    const knowsClasses = this.classifier !== null && retired > 0;
    const counted = { sums, classes, stalls, retired, squashed, born: lives.born, cycles };
    return compareCounters(this.core, counted, knowsClasses);
  }
}

function hex(pc: bigint): string {
  return `0x${pc.toString(16)}`;
}
