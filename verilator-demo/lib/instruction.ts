/** What an instruction word says about itself, without a machine to run it. */

export const Opcode = {
  LOAD: 0x03,
  FENCE: 0x0f,
  OP_IMM: 0x13,
  AUIPC: 0x17,
  STORE: 0x23,
  AMO: 0x2f,
  OP: 0x33,
  LUI: 0x37,
  BRANCH: 0x63,
  JALR: 0x67,
  JAL: 0x6f,
  SYSTEM: 0x73,
} as const;

export const WFI = 0x1050_0073;
export const MRET = 0x3020_0073;

export function opcodeOf(inst: number): number {
  return inst & 0x7f;
}

export function isMulDiv(inst: number): boolean {
  return opcodeOf(inst) === Opcode.OP && inst >>> 25 === 1;
}

export function isAtomic(inst: number): boolean {
  return opcodeOf(inst) === Opcode.AMO;
}

export function isCsr(inst: number): boolean {
  return opcodeOf(inst) === Opcode.SYSTEM && ((inst >>> 12) & 3) !== 0;
}

/** Registers that an instruction reads, x0 left out. */
export function sourcesOf(inst: number): number[] {
  const opcode = opcodeOf(inst);
  const sources: number[] = [];
  const readsFirst = [0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x2f].includes(opcode);
  if (readsFirst || (isCsr(inst) && !((inst >>> 14) & 1))) sources.push((inst >>> 15) & 31);
  if ([0x63, 0x23, 0x33, 0x2f].includes(opcode)) sources.push((inst >>> 20) & 31);
  return sources.filter((register) => register !== 0);
}

/** Register that an instruction writes, 0 = none. */
export function destinationOf(inst: number): number {
  const writes = [0x37, 0x17, 0x6f, 0x67, 0x03, 0x13, 0x33, 0x2f].includes(opcodeOf(inst)) || isCsr(inst);
  return writes ? (inst >>> 7) & 31 : 0;
}

export function immediateS(inst: number): number {
  return ((inst >> 25) << 5) | ((inst >>> 7) & 31);
}

export function immediateB(inst: number): number {
  const high = ((inst >> 31) << 12) | (((inst >>> 7) & 1) << 11);
  return high | (((inst >>> 25) & 63) << 5) | (((inst >>> 8) & 15) << 1);
}

export function immediateJ(inst: number): number {
  const high = ((inst >> 31) << 20) | (inst & 0xff000);
  return high | (((inst >>> 20) & 1) << 11) | (((inst >>> 21) & 0x3ff) << 1);
}
