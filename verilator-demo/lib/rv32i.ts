/**
 * RV32I written a second time, from the instruction set's point of view: no pipeline, one instruction after the
 * other. The tests hold the core and its trace against it.
 */

export const RAM_BASE = 0x8000_0000;
export const RAM_WORDS = 16_384;
const CONSOLE = 0x1000_0000;
const RESULT = 0x1000_0004;

/** Exception causes (mcause). */
export const Cause = {
  FETCH_MISALIGNED: 0,
  FETCH_FAULT: 1,
  ILLEGAL: 2,
  BREAKPOINT: 3,
  LOAD_MISALIGNED: 4,
  LOAD_FAULT: 5,
  STORE_MISALIGNED: 6,
  STORE_FAULT: 7,
  ECALL: 11,
} as const;

/** One retired instruction. */
export interface Step {
  readonly pc: number;
  readonly inst: number;
  /** Register written, 0 = none. */
  readonly rd: number;
  readonly value: number;
}

export interface Counts {
  committed_insns: number;
  branches: number;
  branches_taken: number;
  jumps: number;
  loads: number;
  stores: number;
  /** Loads whose value the very next instruction needs. */
  stalls_load_use: number;
  /** Retired instructions that left straight-line order. */
  redirects: number;
}

class Trap extends Error {
  constructor(
    readonly trapCause: number,
    readonly tval: number,
  ) {
    super(`exception ${trapCause}`);
  }
}

interface Effect {
  rd: number;
  value: number;
  next: number;
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
    stalls_load_use: 0,
    redirects: 0,
  };
  pc = RAM_BASE;
  console = '';
  result: number | null = null;
  /** Set when the machine has stopped. */
  stop: { cause: number; tval: number; pc: number } | null = null;
  private loaded = 0;

  constructor(image: readonly number[]) {
    this.ram.set(image);
  }

  /** Runs until the program stops; `onRetire` sees every instruction that had its effect. */
  run(maxSteps: number, onRetire?: (step: Step) => void): void {
    for (let i = 0; i < maxSteps && !this.stop; i++) {
      const step = this.step();
      if (step && onRetire) onRetire(step);
    }
    if (!this.stop) throw new Error(`the program did not stop within ${maxSteps} instructions`);
  }

  private step(): Step | null {
    const pc = this.pc;
    try {
      const inst = this.fetch(pc);
      const effect = this.execute(pc, inst);
      if (effect.rd) this.registers[effect.rd] = effect.value;
      this.account(pc, inst, effect);
      this.pc = effect.next;
      return { pc, inst, rd: effect.rd, value: effect.value >>> 0 };
    } catch (error) {
      if (!(error instanceof Trap)) throw error;
      this.stop = { cause: error.trapCause, tval: error.tval >>> 0, pc };
      // The instruction that stops the machine may itself have waited for the load before it.
      this.account(pc, this.word(pc) ?? 0, null);
      return null;
    }
  }

  private account(pc: number, inst: number, effect: Effect | null): void {
    const opcode = inst & 0x7f;
    if (this.loaded && sourcesOf(inst).includes(this.loaded)) this.counts.stalls_load_use++;
    this.loaded = 0;
    if (!effect) return;
    const left = opcode === 0x6f || opcode === 0x67 || (opcode === 0x63 && this.condition(inst));
    this.counts.committed_insns++;
    if (opcode === 0x63) this.counts.branches++;
    if (opcode === 0x63 && left) this.counts.branches_taken++;
    if (opcode === 0x6f || opcode === 0x67) this.counts.jumps++;
    if (opcode === 0x23) this.counts.stores++;
    if (opcode === 0x03) {
      this.counts.loads++;
      this.loaded = effect.rd;
    }
    if (left) this.counts.redirects++;
    else if (effect.next !== (pc + 4) >>> 0) throw new Error('a straight instruction went elsewhere');
  }

  private word(address: number): number | undefined {
    const offset = (address - RAM_BASE) >>> 0;
    return offset < RAM_WORDS * 4 ? this.ram[offset >>> 2] : undefined;
  }

  private fetch(pc: number): number {
    const inst = this.word(pc);
    if (inst === undefined) throw new Trap(Cause.FETCH_FAULT, pc);
    return inst;
  }

  private execute(pc: number, inst: number): Effect {
    const rd = (inst >>> 7) & 31;
    const funct3 = (inst >>> 12) & 7;
    const funct7 = inst >>> 25;
    const a = this.registers[(inst >>> 15) & 31]!;
    const b = this.registers[(inst >>> 20) & 31]!;
    const immediate = inst >> 20;
    const next = (pc + 4) >>> 0;
    switch (inst & 0x7f) {
      case 0x37:
        return { rd, value: inst & 0xfffff000, next };
      case 0x17:
        return { rd, value: pc + (inst & 0xfffff000), next };
      case 0x6f:
        return { rd, value: next, next: target(pc + immediateJ(inst)) };
      case 0x67:
        if (funct3 !== 0) break;
        return { rd, value: next, next: target((a + immediate) & ~1) };
      case 0x63:
        if (funct3 === 2 || funct3 === 3) break;
        return { rd: 0, value: 0, next: this.condition(inst) ? target(pc + immediateB(inst)) : next };
      case 0x03:
        if (funct3 === 3 || funct3 > 5) break;
        return { rd, value: this.load((a + immediate) >>> 0, funct3), next };
      case 0x23:
        if (funct3 > 2) break;
        this.store((a + immediateS(inst)) >>> 0, funct3, b);
        return { rd: 0, value: 0, next };
      case 0x13:
        if (funct3 === 1 && funct7 !== 0) break;
        if (funct3 === 5 && funct7 !== 0 && funct7 !== 0x20) break;
        return { rd, value: arithmetic(funct3, funct3 === 5 && funct7 === 0x20, a, immediate), next };
      case 0x33:
        if (funct7 !== 0 && !(funct7 === 0x20 && (funct3 === 0 || funct3 === 5))) break;
        return { rd, value: arithmetic(funct3, funct7 === 0x20, a, b), next };
      case 0x0f:
        if (funct3 !== 0) break;
        return { rd: 0, value: 0, next };
      case 0x73:
        if (inst === 0x73) throw new Trap(Cause.ECALL, 0);
        if (inst === 0x0010_0073) throw new Trap(Cause.BREAKPOINT, pc);
        break;
    }
    throw new Trap(Cause.ILLEGAL, inst);
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

  private load(address: number, funct3: number): number {
    const size = 1 << (funct3 & 3);
    if (address % size !== 0) throw new Trap(Cause.LOAD_MISALIGNED, address);
    const word = this.word(address);
    if (word === undefined) throw new Trap(Cause.LOAD_FAULT, address);
    const value = word >>> (8 * (address & 3));
    if (size === 4) return value;
    const shift = 32 - 8 * size;
    return funct3 & 4 ? (value << shift) >>> shift : (value << shift) >> shift;
  }

  private store(address: number, funct3: number, value: number): void {
    const size = 1 << funct3;
    if (address % size !== 0) throw new Trap(Cause.STORE_MISALIGNED, address);
    if ((address & ~3) >>> 0 === CONSOLE)
      this.console += String.fromCharCode((value << (8 * (address & 3))) & 0xff);
    else if ((address & ~3) >>> 0 === RESULT) this.result = (value << (8 * (address & 3))) >>> 0;
    else {
      const offset = (address - RAM_BASE) >>> 0;
      if (offset >= RAM_WORDS * 4) throw new Trap(Cause.STORE_FAULT, address);
      const shift = 8 * (address & 3);
      const mask = size === 4 ? 0xffffffff : ((1 << (8 * size)) - 1) << shift;
      this.ram[offset >>> 2] = (this.ram[offset >>> 2]! & ~mask) | ((value << shift) & mask);
    }
  }
}

function target(address: number): number {
  if (address & 3) throw new Trap(Cause.FETCH_MISALIGNED, address);
  return address >>> 0;
}

function arithmetic(funct3: number, alternate: boolean, a: number, b: number): number {
  switch (funct3) {
    case 0:
      return alternate ? a - b : a + b;
    case 1:
      return a << (b & 31);
    case 2:
      return (a | 0) < (b | 0) ? 1 : 0;
    case 3:
      return a < b >>> 0 ? 1 : 0;
    case 4:
      return a ^ b;
    case 5:
      return alternate ? (a | 0) >> (b & 31) : a >>> (b & 31);
    case 6:
      return a | b;
    default:
      return a & b;
  }
}

function immediateS(inst: number): number {
  return ((inst >> 25) << 5) | ((inst >>> 7) & 31);
}

function immediateB(inst: number): number {
  return (
    ((inst >> 31) << 12) |
    (((inst >>> 7) & 1) << 11) |
    (((inst >>> 25) & 63) << 5) |
    (((inst >>> 8) & 15) << 1)
  );
}

function immediateJ(inst: number): number {
  const high = ((inst >> 31) << 20) | (inst & 0xff000);
  return high | (((inst >>> 20) & 1) << 11) | (((inst >>> 21) & 0x3ff) << 1);
}

/** Registers that an instruction reads, x0 left out. */
export function sourcesOf(inst: number): number[] {
  const opcode = inst & 0x7f;
  const sources: number[] = [];
  if ([0x67, 0x63, 0x03, 0x23, 0x13, 0x33].includes(opcode)) sources.push((inst >>> 15) & 31);
  if ([0x63, 0x23, 0x33].includes(opcode)) sources.push((inst >>> 20) & 31);
  return sources.filter((register) => register !== 0);
}

/** Register that an instruction writes, 0 = none. */
export function destinationOf(inst: number): number {
  return [0x37, 0x17, 0x6f, 0x67, 0x03, 0x13, 0x33].includes(inst & 0x7f) ? (inst >>> 7) & 31 : 0;
}

/** Words of a program image as written by firmware/Makefile. */
export function parseHex(text: string): number[] {
  const lines = text.split('\n').filter((line) => line && !line.startsWith('//'));
  return lines.map((line) => Number.parseInt(line, 16));
}

export function formatHex(words: readonly number[]): string {
  return `${words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('\n')}\n`;
}
