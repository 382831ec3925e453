/**
 * RV32IM with machine mode, written a second time, from the instruction set's point of view: no pipeline, no caches, no
 * prediction, one instruction after the other. The tests hold the core and its trace against it.
 */
import { CsrFile } from './csr.js';
import {
  immediateB,
  immediateJ,
  immediateS,
  isCsr,
  isMulDiv,
  MRET,
  Opcode,
  opcodeOf,
  WFI,
} from './instruction.js';
import { arithmetic, divide, multiply } from './operations.js';
import { Timer } from './timer.js';
import { Cause, Exception } from './trap.js';

export const RAM_BASE = 0x8000_0000;
export const RAM_WORDS = 16_384;
const COMPARE = 0x0200_4000;
const TIME = 0x0200_bff8;
const CONSOLE = 0x1000_0000;
const RESULT = 0x1000_0004;

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

/** Bytes of a word. Those not in the strobe are 0 or not the store's. */
export interface Store {
  readonly addr: number;
  readonly strobe: number;
  readonly data: number;
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
  readonly ram = new Uint32Array(RAM_WORDS);
  readonly counts: Counts = {
    committed_insns: 0,
    branches: 0,
    branches_taken: 0,
    jumps: 0,
    loads: 0,
    stores: 0,
    muldivs: 0,
    exceptions: 0,
    interrupts: 0,
  };
  pc = RAM_BASE;
  console = '';
  result: number | null = null;
  /** The trap that nobody handled: the machine has stopped. */
  stop: Trap | null = null;
  private readonly csrs = new CsrFile();
  private readonly timer = new Timer();
  private stored: Store | null = null;

  constructor(image: readonly number[]) {
    this.ram.set(image);
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
  }

  private word(address: number): number | undefined {
    const offset = (address - RAM_BASE) >>> 0;
    return offset < RAM_WORDS * 4 ? this.ram[offset >>> 2] : undefined;
  }

  private fetch(pc: number): number {
    const inst = this.word(pc);
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

  private readDevice(address: number, cycle: number): number {
    switch ((address & ~3) >>> 0) {
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
    const offset = (address - RAM_BASE) >>> 0;
    if (offset >= RAM_WORDS * 4) {
      this.writeDevice(address, addr, data, cycle);
      return;
    }
    const mask = size === 4 ? 0xffffffff : ((1 << (8 * size)) - 1) << (8 * lane);
    this.ram[offset >>> 2] = (this.ram[offset >>> 2]! & ~mask) | (data & mask);
    this.stored = { addr, strobe: ((1 << size) - 1) << lane, data };
  }

  private writeDevice(address: number, addr: number, data: number, cycle: number): void {
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
