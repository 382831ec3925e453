/** Instruction words of RV32IM by format, and random programs made of them. */
import { RAM_BASE } from './rv32im.js';

export { MRET, WFI } from './instruction.js';

export const encode = {
  r: (funct7: number, rs2: number, rs1: number, funct3: number, rd: number): number =>
    ((funct7 << 25) | (rs2 << 20) | (rs1 << 15) | (funct3 << 12) | (rd << 7) | 0x33) >>> 0,
  i: (opcode: number, funct3: number, rd: number, rs1: number, imm: number): number =>
    ((imm << 20) | (rs1 << 15) | (funct3 << 12) | (rd << 7) | opcode) >>> 0,
  s: (funct3: number, rs2: number, rs1: number, imm: number): number =>
    (((imm >> 5) << 25) | (rs2 << 20) | (rs1 << 15) | (funct3 << 12) | ((imm & 31) << 7) | 0x23) >>> 0,
  b: (funct3: number, rs1: number, rs2: number, offset: number): number => {
    const high = (((offset >> 12) & 1) << 31) | (((offset >> 5) & 63) << 25);
    const low = (((offset >> 1) & 15) << 8) | (((offset >> 11) & 1) << 7);
    return (high | (rs2 << 20) | (rs1 << 15) | (funct3 << 12) | low | 0x63) >>> 0;
  },
  u: (opcode: number, rd: number, imm20: number): number => ((imm20 << 12) | (rd << 7) | opcode) >>> 0,
  jal: (rd: number, offset: number): number => {
    const imm =
      (((offset >> 20) & 1) << 31) |
      (((offset >> 1) & 0x3ff) << 21) |
      (((offset >> 11) & 1) << 20) |
      (offset & 0xff000);
    return (imm | (rd << 7) | 0x6f) >>> 0;
  },
};

export const addi = (rd: number, rs1: number, imm: number): number => encode.i(0x13, 0, rd, rs1, imm);
export const lui = (rd: number, imm20: number): number => encode.u(0x37, rd, imm20);
export const lw = (rd: number, rs1: number, imm: number): number => encode.i(0x03, 2, rd, rs1, imm);
export const sw = (rs2: number, rs1: number, imm: number): number => encode.s(2, rs2, rs1, imm);
export const jalr = (rd: number, rs1: number, imm: number): number => encode.i(0x67, 0, rd, rs1, imm);
export const csrrw = (rd: number, csr: number, rs1: number): number => encode.i(0x73, 1, rd, rs1, csr);
export const csrrs = (rd: number, csr: number, rs1: number): number => encode.i(0x73, 2, rd, rs1, csr);
export const csrrc = (rd: number, csr: number, rs1: number): number => encode.i(0x73, 3, rd, rs1, csr);
export const mul = (rd: number, rs1: number, rs2: number): number => encode.r(1, rs2, rs1, 0, rd);
export const div = (rd: number, rs1: number, rs2: number): number => encode.r(1, rs2, rs1, 4, rd);
/** rd = value, in two words. */
export const li = (rd: number, value: number): number[] => {
  const low = (value << 20) >> 20;
  return [lui(rd, ((value - low) >>> 12) & 0xfffff), addi(rd, rd, low)];
};
export const Csr = {
  MSTATUS: 0x300,
  MIE: 0x304,
  MTVEC: 0x305,
  MSCRATCH: 0x340,
  MEPC: 0x341,
  MCAUSE: 0x342,
  MTVAL: 0x343,
  MIP: 0x344,
  MCYCLE: 0xb00,
  MINSTRET: 0xb02,
  MHARTID: 0xf14,
} as const;
export const FENCE = 0x0ff0_000f;
export const ECALL = 0x0000_0073;
export const EBREAK = 0x0010_0073;
export const NOP = addi(0, 0, 0);

/** Numbers 0 .. n-1, the same sequence for the same seed on every machine. */
export function randomSource(seed: number): (n: number) => number {
  let state = (seed ^ 0x9e37_79b9) >>> 0 || 1;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % n;
  };
}

const BASE_REGISTER = 8;
const DATA_OFFSET = 0x4000;
const DATA_BYTES = 64;

/**
 * A random program that ends: control only goes forward. Few registers and few addresses make neighbours depend on each
 * other, which is what a pipeline gets wrong. Near the end everything in the data area is folded into a register. It uses
 * registers up to x11; `before` may set up what it likes in the others.
 */
export function randomProgram(seed: number, length: number, before: readonly number[] = []): number[] {
  const random = randomSource(seed);
  const register = (): number => random(6);
  const destination = (): number => random(6);
  const words = [...before, lui(BASE_REGISTER, (RAM_BASE + DATA_OFFSET) >>> 12)];
  for (let r = 1; r < 6; r++) words.push(lui(r, random(1 << 20)), addi(r, r, random(4096) - 2048));
  const end = words.length + length;
  const landings = new Set<number>();
  // Offset of a jump `after` words further on, at least one.
  const skipFrom = (after: number): number => {
    const distance = after + 1 + random(6);
    landings.add(words.length + distance);
    return 4 * distance;
  };
  while (words.length < end) {
    switch (random(11)) {
      case 0: {
        const skip = skipFrom(0);
        words.push(encode.b([0, 1, 4, 5, 6, 7][random(6)]!, register(), register(), skip));
        break;
      }
      case 1:
        words.push(encode.jal(destination(), skipFrom(0)));
        break;
      case 2:
        // auipc forwards its address to jalr. Nobody may land between the two.
        if (landings.has(words.length + 1)) words.push(NOP);
        else {
          const skip = skipFrom(1);
          words.push(encode.u(0x17, 7, 0), jalr(destination(), 7, skip));
        }
        break;
      case 3:
      case 4: {
        const kind = random(5);
        const size = [1, 2, 4, 1, 2][kind]!;
        words.push(
          encode.i(0x03, [0, 1, 2, 4, 5][kind]!, destination(), BASE_REGISTER, aligned(random, size)),
        );
        break;
      }
      case 5: {
        const kind = random(3);
        words.push(encode.s(kind, register(), BASE_REGISTER, aligned(random, 1 << kind)));
        break;
      }
      case 6:
        words.push(encode.u(random(2) ? 0x37 : 0x17, destination(), random(1 << 20)));
        break;
      case 7:
      case 8:
        words.push(immediateOperation(random, destination(), register()));
        break;
      case 9:
        words.push(encode.r(1, register(), register(), random(8), destination()));
        break;
      default: {
        const funct3 = random(8);
        const alternate = (funct3 === 0 || funct3 === 5) && random(2) ? 0x20 : 0;
        words.push(encode.r(alternate, register(), register(), funct3, destination()));
      }
    }
  }
  // Landing ground for the last jumps, then the fold.
  for (let i = 0; i < 8; i++) words.push(NOP);
  for (let at = 0; at < DATA_BYTES; at += 4) {
    words.push(
      lw(9, BASE_REGISTER, at),
      encode.r(0, 9, 10, 4, 10),
      encode.i(0x13, 1, 11, 10, 3),
      encode.r(0, 11, 10, 0, 10),
    );
  }
  words.push(ECALL, NOP, NOP, NOP, NOP);
  return words;
}

function aligned(random: (n: number) => number, size: number): number {
  return size * random(DATA_BYTES / size);
}

function immediateOperation(random: (n: number) => number, rd: number, rs1: number): number {
  const funct3 = random(8);
  if (funct3 === 1) return encode.i(0x13, 1, rd, rs1, random(32));
  if (funct3 === 5) return encode.i(0x13, 5, rd, rs1, random(32) | (random(2) ? 0x400 : 0));
  return encode.i(0x13, funct3, rd, rs1, random(4096) - 2048);
}
