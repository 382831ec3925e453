/**
 * RV32IMA with machine mode, written a second time, from the instruction set's point of view: no pipeline, no caches, no
 * prediction, one instruction after the other. The tests hold the core and its trace against it. Several machines may share
 * a RAM; their accesses happen in the order in which they are stepped.
 */
import { CsrFile } from './csr.js';
import {
  immediateB,
  immediateJ,
  immediateS,
  isAtomic,
  isCsr,
  isMulDiv,
  MRET,
  Opcode,
  opcodeOf,
  WFI,
} from './instruction.js';
import { arithmetic, divide, multiply } from './operations.js';
import { Ram, type Store } from './ram.js';
import { Timer } from './timer.js';
import { Cause, Exception } from './trap.js';

export const RAM_BASE = 0x8000_0000;
const COMPARE = 0x0200_4000;
const TIME = 0x0200_bff8;
const CONSOLE = 0x1000_0000;
const RESULT = 0x1000_0004;
const HARTS = 0x1000_0008;

/** One retired instruction. */
export interface Step {
  readonly pc: number;
  readonly inst: number;
  /** Register written, 0 = none. */
  readonly rd: number;
  readonly value: number;
  /** What it writes into memory; null also for a store to a device. */
  readonly store: Store | null;
}

/** One of several machines with a RAM in common. */
export interface Hart {
  readonly index: number;
  readonly harts: number;
  readonly ram: Ram;
}

export interface Trap {
  readonly pc: number;
  readonly cause: number;
  readonly tval: number;
  /** Address of the handler; 0 = there is none, the machine stops. */
  readonly target: number;
}

/** The cycles in which an instruction does what time has to do with: the last ones in these stages. */
export interface Timing {
  readonly decode: number;
  readonly execute: number;
  readonly memory: number;
}

export interface Counts {
  committed_insns: number;
  branches: number;
  branches_taken: number;
  jumps: number;
  loads: number;
  stores: number;
  muldivs: number;
  atomics: number;
  exceptions: number;
  interrupts: number;
}

interface Effect {
  readonly rd: number;
  readonly value: number;
  readonly next: number;
}

export class Machine {
  readonly registers = new Uint32Array(32);
  readonly ram: Ram;
  /** Stores that are not in the RAM yet, oldest first. Only a hart among others has any: alone nobody sees the difference. */
  readonly pending: Store[] = [];
  readonly counts: Counts = {
    committed_insns: 0,
    branches: 0,
    branches_taken: 0,
    jumps: 0,
    loads: 0,
    stores: 0,
    muldivs: 0,
    atomics: 0,
    exceptions: 0,
    interrupts: 0,
  };
  pc = RAM_BASE;
  console = '';
  result: number | null = null;
  /** The trap that nobody handled: the machine has stopped. */
  stop: Trap | null = null;
  private readonly csrs: CsrFile;
  private readonly timer = new Timer();
  private stored: Store | null = null;

  /** A machine with its own RAM that holds the image, or a hart of several. */
  constructor(
    image: readonly number[],
    private readonly hart: Hart | null = null,
  ) {
    this.ram = hart?.ram ?? new Ram(RAM_BASE, image);
    this.csrs = new CsrFile(hart?.index);
  }

  /** Runs until the program stops, with one cycle per instruction as its time; `onRetire` sees every one retired. */
  run(maxSteps: number, onRetire?: (step: Step) => void): void {
    for (let cycle = 0; cycle < maxSteps && !this.stop; cycle++) {
      if (this.isInterruptDue(cycle)) this.interrupt();
      const done = this.step({ decode: cycle, execute: cycle, memory: cycle });
      if ('inst' in done && onRetire) onRetire(done);
    }
    if (!this.stop) throw new Error(`the program did not stop within ${maxSteps} instructions`);
  }

  /** Would an instruction that leaves decode in this cycle be interrupted? */
  isInterruptDue(cycle: number): boolean {
    return this.csrs.interruptsOn && this.mayWake(cycle);
  }

  /** Does a wfi end in this cycle? */
  mayWake(cycle: number): boolean {
    return this.csrs.timerEnabled && this.timer.interruptsAt(cycle);
  }

  /** Takes the timer interrupt before the instruction at pc. */
  interrupt(): Trap {
    this.counts.interrupts++;
    return this.trap(Cause.TIMER, 0);
  }

  /** The instruction at pc: retires, or raises an exception. */
  step(timing: Timing): Step | Trap {
    const pc = this.pc;
    this.stored = null;
    try {
      const inst = this.fetch(pc);
      const effect = this.execute(pc, inst, timing);
      this.account(inst);
      if (effect.rd) this.registers[effect.rd] = effect.value;
      this.pc = effect.next;
      return { pc, inst, rd: effect.rd, value: effect.value >>> 0, store: this.stored };
    } catch (error) {
      if (!(error instanceof Exception)) throw error;
      this.counts.exceptions++;
      return this.trap(error.trapCause, error.tval >>> 0);
    }
  }

  /** Puts the oldest pending store into the RAM, where the other harts see it. */
  performStore(): Store | undefined {
    const store = this.pending.shift();
    if (store) this.ram.write(store);
    return store;
  }

  private trap(cause: number, tval: number): Trap {
    const trap = { pc: this.pc, cause, tval, target: this.csrs.enter(cause, this.pc, tval) };
    if (trap.target === 0) this.stop = trap;
    else this.pc = trap.target;
    return trap;
  }

  /** Before the instruction writes its register, which may be the one it compares. */
  private account(inst: number): void {
    const { counts } = this;
    const opcode = opcodeOf(inst);
    counts.committed_insns++;
    if (opcode === Opcode.BRANCH) counts.branches++;
    if (opcode === Opcode.BRANCH && this.condition(inst)) counts.branches_taken++;
    if (opcode === Opcode.JAL || opcode === Opcode.JALR) counts.jumps++;
    if (opcode === Opcode.LOAD) counts.loads++;
    if (opcode === Opcode.STORE) counts.stores++;
    if (isMulDiv(inst)) counts.muldivs++;
    if (isAtomic(inst)) counts.atomics++;
  }

  /** A word as this hart sees it; undefined where no RAM is. */
  private word(address: number): number | undefined {
    let word = this.ram.read(address);
    for (const store of this.pending)
      if ((store.addr ^ address) >>> 2 === 0) word = Ram.merge(word ?? 0, store);
    return word;
  }

  private fetch(pc: number): number {
    const inst = this.ram.read(pc);
    if (inst === undefined) throw new Exception(Cause.FETCH_FAULT, pc);
    return inst;
  }

  private execute(pc: number, inst: number, timing: Timing): Effect {
    const rd = (inst >>> 7) & 31;
    const funct3 = (inst >>> 12) & 7;
    const funct7 = inst >>> 25;
    const a = this.registers[(inst >>> 15) & 31]!;
    const b = this.registers[(inst >>> 20) & 31]!;
    const immediate = inst >> 20;
    const next = (pc + 4) >>> 0;
    switch (opcodeOf(inst)) {
      case Opcode.LUI:
        return { rd, value: inst & 0xfffff000, next };
      case Opcode.AUIPC:
        return { rd, value: pc + (inst & 0xfffff000), next };
      case Opcode.JAL:
        return { rd, value: next, next: target(pc + immediateJ(inst)) };
      case Opcode.JALR:
        if (funct3 !== 0) break;
        return { rd, value: next, next: target((a + immediate) & ~1) };
      case Opcode.BRANCH:
        if (funct3 === 2 || funct3 === 3) break;
        return { rd: 0, value: 0, next: this.condition(inst) ? target(pc + immediateB(inst)) : next };
      case Opcode.LOAD:
        if (funct3 === 3 || funct3 > 5) break;
        return { rd, value: this.load((a + immediate) >>> 0, funct3, timing.memory), next };
      case Opcode.STORE:
        if (funct3 > 2) break;
        this.store((a + immediateS(inst)) >>> 0, funct3, b, timing.memory);
        return { rd: 0, value: 0, next };
      case Opcode.AMO:
        if (funct3 !== 2 || !Ram.hasOperation(inst)) break;
        return { rd, value: this.atomic(inst, a, b), next };
      case Opcode.OP_IMM:
        if (funct3 === 1 && funct7 !== 0) break;
        if (funct3 === 5 && funct7 !== 0 && funct7 !== 0x20) break;
        return { rd, value: arithmetic(funct3, funct3 === 5 && funct7 === 0x20, a, immediate), next };
      case Opcode.OP:
        if (funct7 === 1)
          return { rd, value: funct3 < 4 ? multiply(funct3, a, b) : divide(funct3, a, b), next };
        if (funct7 !== 0 && !(funct7 === 0x20 && (funct3 === 0 || funct3 === 5))) break;
        return { rd, value: arithmetic(funct3, funct7 === 0x20, a, b), next };
      case Opcode.FENCE:
        if (funct3 !== 0) break;
        return { rd: 0, value: 0, next };
      case Opcode.SYSTEM:
        return this.system(inst, a, timing);
    }
    throw new Exception(Cause.ILLEGAL, inst);
  }

  private system(inst: number, source: number, { execute }: Timing): Effect {
    const next = (this.pc + 4) >>> 0;
    if (isCsr(inst)) {
      const timerInterrupts = this.timer.interruptsAt(execute);
      const inputs = { cycle: execute, retired: this.counts.committed_insns, timerInterrupts };
      return { rd: (inst >>> 7) & 31, value: this.csrs.access(inst, source, inputs), next };
    }
    if (inst === 0x73) throw new Exception(Cause.ECALL, 0);
    if (inst === 0x0010_0073) throw new Exception(Cause.BREAKPOINT, this.pc);
    if (inst === MRET) return { rd: 0, value: 0, next: this.csrs.leave() };
    if (inst === WFI) return { rd: 0, value: 0, next };
    throw new Exception(Cause.ILLEGAL, inst);
  }

  private condition(inst: number): boolean {
    const a = this.registers[(inst >>> 15) & 31]!;
    const b = this.registers[(inst >>> 20) & 31]!;
    switch ((inst >>> 12) & 7) {
      case 0:
        return a === b;
      case 1:
        return a !== b;
      case 4:
        return (a | 0) < (b | 0);
      case 5:
        return (a | 0) >= (b | 0);
      case 6:
        return a < b;
      default:
        return a >= b;
    }
  }

  private load(address: number, funct3: number, cycle: number): number {
    const size = 1 << (funct3 & 3);
    if (address % size !== 0) throw new Exception(Cause.LOAD_MISALIGNED, address);
    const word = this.word(address) ?? this.readDevice(address, cycle);
    const value = word >>> (8 * (address & 3));
    if (size === 4) return value;
    const shift = 32 - 8 * size;
    return funct3 & 4 ? (value << shift) >>> shift : (value << shift) >> shift;
  }

  private atomic(inst: number, address: number, operand: number): number {
    const reads = inst >>> 27 === 2;
    if (address & 3) throw new Exception(reads ? Cause.LOAD_MISALIGNED : Cause.STORE_MISALIGNED, address);
    if (this.ram.read(address) === undefined)
      throw new Exception(reads ? Cause.LOAD_FAULT : Cause.STORE_FAULT, address);
    if (this.pending.length > 0) throw new Error('an atomic operation with stores pending');
    return this.ram.atomic(this.hart?.index ?? 0, inst >>> 27, address, operand);
  }

  private readDevice(address: number, cycle: number): number {
    switch ((address & ~3) >>> 0) {
      case HARTS:
        return this.hart?.harts ?? 1;
      case COMPARE:
      case COMPARE + 4:
        return this.timer.readHalf((address & 4) !== 0);
      case TIME:
        return cycle >>> 0;
      case TIME + 4:
        return Math.floor(cycle / 2 ** 32);
      default:
        throw new Exception(Cause.LOAD_FAULT, address);
    }
  }

  private store(address: number, funct3: number, value: number, cycle: number): void {
    const size = 1 << funct3;
    if (address % size !== 0) throw new Exception(Cause.STORE_MISALIGNED, address);
    const lane = address & 3;
    const addr = (address & ~3) >>> 0;
    const data = (value << (8 * lane)) >>> 0;
    if (this.ram.read(address) === undefined) {
      this.writeDevice(address, addr, data, cycle);
      return;
    }
    this.stored = { addr, strobe: ((1 << size) - 1) << lane, data };
    this.pending.push(this.stored);
    if (!this.hart) this.performStore();
  }

  private writeDevice(address: number, addr: number, data: number, cycle: number): void {
    if (this.hart && this.hart.index > 0 && (addr === CONSOLE || addr === RESULT))
      throw new Exception(Cause.STORE_FAULT, address);
    if (addr === CONSOLE) this.console += String.fromCharCode(data & 0xff);
    else if (addr === RESULT) this.result = data;
    else if (addr === COMPARE || addr === COMPARE + 4) this.timer.writeHalf(addr !== COMPARE, data, cycle);
    else throw new Exception(Cause.STORE_FAULT, address);
  }
}

function target(address: number): number {
  if (address & 3) throw new Exception(Cause.FETCH_MISALIGNED, address);
  return address >>> 0;
}
