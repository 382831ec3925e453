/** Records what a core retires, from its RVFI pins: the same as `sv/uscope_rvfi.sv` does in a simulator. */
import { expanded, isCompressed } from '../../common/riscv.js';
import type { Probe, Recorder, Run, Wide } from '../sampling/run.js';
import { RvfiChecker } from './checker.js';
import {
  following,
  isBranch,
  isJump,
  masked,
  type RvfiInstruction,
  trapCause,
  trapValue,
} from './instruction.js';
import type { RvfiCounter, RvfiEvent, RvfiPin, RvfiPlan } from './plan.js';

const RETIRE = 0;
const EXCEPTION = 1;
const MACHINE = 3;
/** Fields of `entities`. */
const Field = {
  ENTITY_ID: 0,
  PC: 1,
  INST_BITS: 2,
  ORDER: 3,
  PRIV_LEVEL: 4,
  IS_COMPRESSED: 5,
  IXL: 6,
} as const;

interface Held {
  readonly slot: number;
  readonly isTrap: boolean;
}

export class RvfiRecorder implements Recorder {
  private readonly isRv32: boolean;
  private readonly valids: readonly Probe[];
  private readonly pins: Readonly<Partial<Record<RvfiPin, readonly Probe[]>>>;
  private readonly ids = new Map<string, number>();
  private readonly checker: RvfiChecker;
  /** Retired in the cycle before: they end in this one. */
  private held: Held[] = [];
  /** In turn, as many slots as two cycles can fill: few ids make a small file. */
  private nextSlot = 0;
  /** Where the core gives no order. */
  private counted = 0;
  private previous: RvfiInstruction | null = null;
  private readonly tally;

  constructor(
    private readonly run: Run,
    private readonly plan: RvfiPlan,
  ) {
    this.isRv32 = plan.xlen === 32;
    const pins: Partial<Record<RvfiPin, readonly Probe[]>> = {};
    for (const [pin, part] of Object.entries(plan.pins)) {
      const width = part.width / plan.channels;
      pins[pin as RvfiPin] = Array.from({ length: plan.channels }, (_, channel) =>
        run.probe({ ...part, from: part.from + channel * width, width }),
      );
    }
    this.pins = pins;
    this.valids = pins.valid ?? [];
    this.checker = new RvfiChecker(
      (violation) => {
        this.count('violations');
        if (violation.isReported) {
          const { code, channel, order, expected, found } = violation;
          this.event('violation', [code, channel, order, expected, found]);
        }
      },
      (missing) => this.count('missing_insns', missing),
    );
    this.tally = run.kept(
      'instructions of RVFI',
      'entities, with their registers and memory accesses as events',
    );
  }

  edge(isReset: boolean): void {
    this.endHeld();
    this.count('cycles');
    if (isReset) this.reset();
    else this.channels();
  }

  /** Indices begin anew, and what retired last ends. */
  gap(): void {
    this.endHeld();
    this.reset();
  }

  private reset(): void {
    this.checker.reset();
    this.previous = null;
  }

  private endHeld(): void {
    for (const { slot, isTrap } of this.held) {
      if (isTrap) this.event('flush', [slot, EXCEPTION]);
      this.run.open().slotClear(this.storage('entities'), slot);
    }
    this.held.length = 0;
  }

  /** By rising order, whichever channels they are in. */
  private channels(): void {
    const { valids } = this;
    if (valids.length === 1) {
      if (valids[0].isSet()) this.one(0, this.sample(0));
      else if (valids[0].isUnknown()) this.checker.unknownValid(0);
      return;
    }
    const found: { channel: number; one: RvfiInstruction }[] = [];
    valids.forEach((valid, channel) => {
      if (valid.isSet()) found.push({ channel, one: this.sample(channel) });
      else if (valid.isUnknown()) this.checker.unknownValid(channel);
    });
    found.sort((a, b) => a.one.order - b.one.order || a.channel - b.channel);
    found.forEach(({ channel, one }, index) => {
      for (const later of found.slice(index + 1)) {
        if (later.one.order === one.order) this.checker.tie(later.channel, one.order, channel);
      }
      this.one(channel, one);
    });
  }

  private sample(channel: number): RvfiInstruction {
    const number = (pin: RvfiPin, missing = 0): number => this.pins[pin]?.[channel].low() ?? missing;
    const wide = (pin: RvfiPin): Wide => this.pins[pin]?.[channel].value() ?? 0;
    const order = this.pins.order ? Number(wide('order')) : this.counted++;
    return {
      order,
      insn: number('insn') | 0,
      isTrap: this.pins.trap?.[channel].isSet() ?? false,
      isHalt: this.pins.halt?.[channel].isSet() ?? false,
      isInterrupt: this.pins.intr?.[channel].isSet() ?? false,
      mode: number('mode', MACHINE),
      ixl: number('ixl'),
      pc: wide('pc_rdata'),
      next: wide('pc_wdata'),
      rs1: { register: number('rs1_addr'), value: wide('rs1_rdata') },
      rs2: { register: number('rs2_addr'), value: wide('rs2_rdata') },
      rd: { register: number('rd_addr'), value: wide('rd_wdata') },
      address: wide('mem_addr'),
      readMask: number('mem_rmask'),
      writeMask: number('mem_wmask'),
      readData: wide('mem_rdata'),
      writeData: wide('mem_wdata'),
    };
  }

  private one(channel: number, one: RvfiInstruction): void {
    const slot = this.nextSlot;
    this.nextSlot = (slot + 1) % (2 * this.plan.channels);
    this.birth(slot, one);
    this.event('stage_transition', [slot, RETIRE]);
    this.checker.check(
      channel,
      one,
      this.previous,
      this.hasUnknown(channel),
      this.plan.pins.pc_wdata !== undefined,
    );
    if (one.isInterrupt && !this.previous?.isTrap) {
      this.count('interrupts');
      this.event('interrupt', [slot, this.previous?.next ?? 0, one.pc]);
    }
    if (one.isTrap) this.trap(slot, one);
    else this.effects(slot, one);
    if (one.isHalt) this.event('halt', [slot]);
    this.held.push({ slot, isTrap: one.isTrap });
    this.previous = one;
    this.tally.count++;
  }

  private birth(slot: number, one: RvfiInstruction): void {
    const { run } = this;
    const entities = this.storage('entities');
    run.set(entities, slot, Field.ENTITY_ID, slot);
    run.set(entities, slot, Field.PC, one.pc);
    run.set(entities, slot, Field.INST_BITS, one.insn >>> 0);
    run.set(entities, slot, Field.ORDER, one.order);
    run.set(entities, slot, Field.PRIV_LEVEL, one.mode);
    if (isCompressed(one.insn)) run.set(entities, slot, Field.IS_COMPRESSED, 1);
    if (!this.isRv32) run.set(entities, slot, Field.IXL, one.ixl);
  }

  private trap(slot: number, one: RvfiInstruction): void {
    const cause = trapCause(one, this.isRv32);
    this.count('traps');
    this.event('trap', [slot, cause, trapValue(one, cause, this.isRv32), one.next]);
  }

  private effects(slot: number, one: RvfiInstruction): void {
    this.count('committed_insns');
    const word = expanded(one.insn, this.isRv32 ? 32 : 64);
    if (isBranch(word)) {
      this.count('branches');
      if (this.plan.pins.pc_wdata && one.next !== following(one, this.isRv32)) this.count('branches_taken');
    }
    if (isJump(word)) this.count('jumps');
    if (one.readMask !== 0) {
      this.count('loads');
      this.event('mem_read', [slot, one.address, one.readMask, masked(one.readData, one.readMask)]);
    }
    if (one.writeMask !== 0) {
      this.count('stores');
      this.event('mem_write', [slot, one.address, one.writeMask, masked(one.writeData, one.writeMask)]);
    }
    const { register, value } = one.rd;
    if (register === 0) return;
    this.event('reg_write', [slot, register, value]);
    this.run.set(this.storage('regs'), register, 0, value);
    this.checker.wrote(register, value);
  }

  private hasUnknown(channel: number): boolean {
    const { order, insn, pc_rdata: pc, trap } = this.pins;
    return [order, insn, pc, trap].some((pin) => pin?.[channel].isUnknown() ?? false);
  }

  private count(name: RvfiCounter, by = 1): void {
    this.run.open().slotAdd(this.storage(name), 0, 0, by);
  }

  private event(name: RvfiEvent, fields: readonly Wide[]): void {
    let id = this.ids.get(name);
    if (id === undefined) {
      id = this.run.event(`${this.plan.scope}/${name}`);
      this.ids.set(name, id);
    }
    this.run.open().event(id, fields);
  }

  private storage(name: string): number {
    const key = `storage ${name}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.run.storage(`${this.plan.scope}/${name}`);
      this.ids.set(key, id);
    }
    return id;
  }
}
