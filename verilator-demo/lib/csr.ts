/** Control and status registers of machine mode, as rtl/csr_file.sv has them. */
import { Cause, Exception } from './trap.js';

const MIE = 1 << 3;
const MPIE = 1 << 7;
const MPP = 3 << 11;
const MTI = 1 << 7;

/** What a CSR instruction reads from outside. */
export interface CsrInputs {
  readonly cycle: number;
  /** Instructions retired before this one. */
  readonly retired: number;
  readonly timerInterrupts: boolean;
}

export class CsrFile {
  constructor(private readonly hart = 0) {}

  private status = MPP;
  private enabled = 0;
  private mtvec = 0;
  private mscratch = 0;
  private mepc = 0;
  private mcause = 0;
  private mtval = 0;

  get interruptsOn(): boolean {
    return (this.status & MIE) !== 0;
  }

  get timerEnabled(): boolean {
    return (this.enabled & MTI) !== 0;
  }

  /** Enters a trap; returns where it is handled, 0 = nowhere. */
  enter(cause: number, pc: number, tval: number): number {
    this.mepc = pc;
    this.mcause = cause;
    this.mtval = tval;
    this.status = MPP | (this.status & MIE ? MPIE : 0);
    const base = (this.mtvec & ~3) >>> 0;
    const isVectored = this.mtvec & 1 && cause >= 0x8000_0000;
    return isVectored ? (base + 4 * (cause & 0xf)) >>> 0 : base;
  }

  /** Leaves a trap; returns where the program continues. */
  leave(): number {
    this.status = MPP | MPIE | (this.status & MPIE ? MIE : 0);
    return this.mepc;
  }

  /** Executes a CSR instruction on the value of its source; returns what was there before. */
  access(inst: number, source: number, inputs: CsrInputs): number {
    const number = inst >>> 20;
    const operation = (inst >>> 12) & 3;
    const register = (inst >>> 15) & 31;
    const operand = (inst >>> 14) & 1 ? register : source;
    const writes = operation === 1 || register !== 0;
    const old = this.read(number, inputs);
    if (old === null || (writes && number >= 0xc00)) throw new Exception(Cause.ILLEGAL, inst);
    if (writes)
      this.write(number, operation === 1 ? operand : operation === 2 ? old | operand : old & ~operand);
    return old >>> 0;
  }

  private read(number: number, { cycle, retired, timerInterrupts }: CsrInputs): number | null {
    switch (number) {
      case 0x300:
        return this.status;
      case 0x301:
        return 0x4000_1101;
      case 0x304:
        return this.enabled;
      case 0x305:
        return this.mtvec;
      case 0x340:
        return this.mscratch;
      case 0x341:
        return this.mepc;
      case 0x342:
        return this.mcause;
      case 0x343:
        return this.mtval;
      case 0x344:
        return timerInterrupts ? MTI : 0;
      case 0xb00:
        return cycle >>> 0;
      case 0xb02:
        return retired >>> 0;
      case 0xb80:
        return Math.floor(cycle / 2 ** 32);
      case 0xb82:
        return Math.floor(retired / 2 ** 32);
      case 0xf11:
      case 0xf12:
      case 0xf13:
        return 0;
      case 0xf14:
        return this.hart;
      default:
        return null;
    }
  }

  private write(number: number, value: number): void {
    if (number === 0x300) this.status = MPP | (value & (MIE | MPIE));
    else if (number === 0x304) this.enabled = value & MTI;
    else if (number === 0x305) this.mtvec = (value & ~2) >>> 0;
    else if (number === 0x340) this.mscratch = value >>> 0;
    else if (number === 0x341) this.mepc = (value & ~3) >>> 0;
    else if (number === 0x342) this.mcause = value >>> 0;
    else if (number === 0x343) this.mtval = value >>> 0;
  }
}
