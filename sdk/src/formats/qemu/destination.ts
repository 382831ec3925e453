/** The integer register that an instruction writes, by its bits; 0: none. Of a log of register values it says which of them are news. */

const field = (bits: number, high: number, low: number): number =>
  (bits >>> low) & ((1 << (high - low + 1)) - 1);

export function destinationOf(bits: number, isRv32: boolean): number {
  return (bits & 3) === 3 ? ofWord(bits) : ofHalf(bits, isRv32);
}

function ofWord(bits: number): number {
  const rd = field(bits, 11, 7);
  switch (bits & 0x7f) {
    // loads, immediates, registers, upper immediates, AMO, jumps
    case 0x03:
    case 0x13:
    case 0x17:
    case 0x1b:
    case 0x2f:
    case 0x33:
    case 0x37:
    case 0x3b:
    case 0x67:
    case 0x6f:
      return rd;
    // CSR instructions, not ecall and its like
    case 0x73:
      return field(bits, 14, 12) === 0 ? 0 : rd;
    // comparisons, conversions to integers, moves to integers, classes
    case 0x53:
      return [0x14, 0x18, 0x1c].includes(bits >>> 27) ? rd : 0;
    default:
      return 0;
  }
}

function ofHalf(bits: number, isRv32: boolean): number {
  const funct3 = field(bits, 15, 13);
  const rd = field(bits, 11, 7);
  switch (bits & 3) {
    case 0:
      // c.addi4spn, c.lw, c.ld
      return funct3 === 0 || funct3 === 2 || funct3 === 3 ? 8 + field(bits, 4, 2) : 0;
    case 1:
      // c.addi, c.li, c.lui and c.addi16sp; c.jal of RV32, c.addiw of RV64
      if (funct3 === 0 || funct3 === 2 || funct3 === 3) return rd;
      if (funct3 === 1) return isRv32 ? 1 : rd;
      return funct3 === 4 ? 8 + field(bits, 9, 7) : 0;
    default:
      // c.slli, c.lwsp, c.ldsp
      if (funct3 === 0 || funct3 === 2 || funct3 === 3) return rd;
      if (funct3 !== 4) return 0;
      // c.jr writes nothing, c.jalr ra, c.mv and c.add their rd
      if (field(bits, 6, 2) === 0) return field(bits, 12, 12) === 1 && rd !== 0 ? 1 : 0;
      return rd;
  }
}
