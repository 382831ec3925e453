/**
 * The 32-bit encodings of RV32 and RV64 I, M, A, F, D, Zicsr, Zifencei and the privileged instructions, and the pseudo-instructions
 * that represent some of their values, each as mask, match and operands.
 */

/** Word size of the integer registers. */
export type Xlen = 32 | 64;

/**
 * `bits & mask === match` (both unsigned) is this instruction. Words in `operands` that name an operand (operands.ts) are replaced by its text, everything
 * else represents itself.
 */
export interface Encoding {
  readonly name: string;
  readonly match: number;
  readonly mask: number;
  readonly operands: string;
  /** Only for this word size; 0: both. */
  readonly xlen: Xlen | 0;
  /** Both source registers must be the same one (fmv.s and its kin). */
  readonly sameSources?: boolean;
}

const OPCODE = 0x7f;
const FUNCT3 = 0x7000;
const FUNCT7 = 0xfe00_0000;
const RD = 0xf80;
const RS1 = 0xf_8000;
const RS2 = 0x1f0_0000;
const IMM = 0xfff0_0000;
const ALL = 0xffff_ffff;
const RA = 1;

const rd = (register: number) => register << 7;
const rs1 = (register: number) => register << 15;
const rs2 = (register: number) => register << 20;
const funct3 = (value: number) => value << 12;
const imm = (value: number) => (value & 0xfff) << 20;

function encoding(
  name: string,
  match: number,
  mask: number,
  operands: string,
  xlen: Xlen | 0 = 0,
  sameSources = false,
): Encoding {
  return { name, match: match >>> 0, mask: mask >>> 0, operands, xlen, sameSources };
}

/** One encoding per name, with rising funct3; empty names are gaps. */
function byFunct3(names: string, opcode: number, operands: string, xlen: Xlen | 0 = 0): Encoding[] {
  return names
    .split(',')
    .flatMap((name, value) =>
      name ? [encoding(name, opcode | funct3(value), OPCODE | FUNCT3, operands, xlen)] : [],
    );
}

/** Register-register operations `name:funct3`. */
function registerOps(names: string, opcode: number, funct7: number, xlen: Xlen | 0 = 0): Encoding[] {
  return names.split(',').map((entry) => {
    const [name = '', value] = entry.split(':');
    const match = opcode | funct3(Number(value)) | (funct7 * 2 ** 25);
    return encoding(name, match, OPCODE | FUNCT3 | FUNCT7, 'rd,rs1,rs2', xlen);
  });
}

function shift(name: string, opcode: number, value: number, upper: number, xlen: Xlen | 0): Encoding {
  // RV64 takes six bits for the amount, RV32 and the word forms five.
  const mask = OPCODE | FUNCT3 | (xlen === 64 && opcode === 0x13 ? 0xfc00_0000 : FUNCT7);
  return encoding(name, opcode | funct3(value) | (upper * 2 ** 25), mask, 'rd,rs1,shamt', xlen);
}

function shifts(opcode: number, suffix: string, xlen: Xlen): Encoding[] {
  return [
    shift(`slli${suffix}`, opcode, 1, 0, xlen),
    shift(`srli${suffix}`, opcode, 5, 0, xlen),
    shift(`srai${suffix}`, opcode, 5, 0x20, xlen),
  ];
}

const INTEGER: readonly Encoding[] = [
  encoding('lui', 0x37, OPCODE, 'rd,uimm'),
  encoding('auipc', 0x17, OPCODE, 'rd,uimm'),
  encoding('jal', 0x6f, OPCODE, 'rd,jtarget'),
  ...byFunct3('jalr', 0x67, 'rd,imm(rs1)'),
  ...byFunct3('beq,bne,,,blt,bge,bltu,bgeu', 0x63, 'rs1,rs2,btarget'),
  ...byFunct3('lb,lh,lw,,lbu,lhu', 0x03, 'rd,imm(rs1)'),
  ...byFunct3(',,,ld,,,lwu', 0x03, 'rd,imm(rs1)', 64),
  ...byFunct3('sb,sh,sw', 0x23, 'rs2,simm(rs1)'),
  ...byFunct3(',,,sd', 0x23, 'rs2,simm(rs1)', 64),
  ...byFunct3('addi,,slti,sltiu,xori,,ori,andi', 0x13, 'rd,rs1,imm'),
  ...byFunct3('addiw', 0x1b, 'rd,rs1,imm', 64),
  ...shifts(0x13, '', 32),
  ...shifts(0x13, '', 64),
  ...shifts(0x1b, 'w', 64),
  ...registerOps('add:0,sll:1,slt:2,sltu:3,xor:4,srl:5,or:6,and:7', 0x33, 0),
  ...registerOps('sub:0,sra:5', 0x33, 0x20),
  ...registerOps('addw:0,sllw:1,srlw:5', 0x3b, 0, 64),
  ...registerOps('subw:0,sraw:5', 0x3b, 0x20, 64),
  ...registerOps('mul:0,mulh:1,mulhsu:2,mulhu:3,div:4,divu:5,rem:6,remu:7', 0x33, 1),
  ...registerOps('mulw:0,divw:4,divuw:5,remw:6,remuw:7', 0x3b, 1, 64),
];

/** What assemblers emit for "unimp": a write to a register that cannot be written. */
const UNIMP = encoding('unimp', 0xc000_1073, ALL, '');

const SYSTEM: readonly Encoding[] = [
  encoding('fence.tso', 0x8330_000f, 0xfff0_707f, ''),
  encoding('fence', 0x0f, 0xf000_0000 | FUNCT3 | OPCODE, 'pred,succ'),
  encoding('fence.i', 0x100f, FUNCT3 | OPCODE, ''),
  encoding('ecall', 0x73, ALL, ''),
  encoding('ebreak', 0x0010_0073, ALL, ''),
  encoding('sret', 0x1020_0073, ALL, ''),
  encoding('mret', 0x3020_0073, ALL, ''),
  encoding('dret', 0x7b20_0073, ALL, ''),
  encoding('wfi', 0x1050_0073, ALL, ''),
  encoding('sfence.vma', 0x1200_0073, FUNCT7 | FUNCT3 | RD | OPCODE, 'rs1,rs2'),
  UNIMP,
  ...byFunct3(',csrrw,csrrs,csrrc', 0x73, 'rd,csr,rs1'),
  ...byFunct3(',,,,,csrrwi,csrrsi,csrrci', 0x73, 'rd,csr,zimm'),
];

const ORDERINGS = ['', '.rl', '.aq', '.aqrl'];
const AMOS = {
  amoadd: 0,
  amoswap: 1,
  sc: 3,
  amoxor: 4,
  amoor: 8,
  amoand: 12,
  amomin: 16,
  amomax: 20,
  amominu: 24,
  amomaxu: 28,
};

function atomics(suffix: string, width: number, xlen: Xlen | 0): Encoding[] {
  const opcode = 0x2f | funct3(width);
  return ORDERINGS.flatMap((ordering, bits) => [
    encoding(
      `lr${suffix}${ordering}`,
      opcode | ((8 + bits) * 2 ** 25),
      OPCODE | FUNCT3 | FUNCT7 | RS2,
      'rd,(rs1)',
      xlen,
    ),
    ...Object.entries(AMOS).map(([name, funct5]) =>
      encoding(
        `${name}${suffix}${ordering}`,
        opcode | ((funct5 * 4 + bits) * 2 ** 25),
        OPCODE | FUNCT3 | FUNCT7,
        'rd,rs2,(rs1)',
        xlen,
      ),
    ),
  ]);
}

const ATOMIC: readonly Encoding[] = [...atomics('.w', 2, 0), ...atomics('.d', 3, 64)];

/** An operation of OP-FP: funct7, and what of funct3 and rs2 is fixed. `~` in the operands is the rounding mode. */
function float(
  name: string,
  funct7: number,
  operands: string,
  fixed: { funct3?: number; rs2?: number; xlen?: Xlen } = {},
): Encoding {
  let match = 0x53 | (funct7 * 2 ** 25);
  let mask = OPCODE | FUNCT7;
  if (fixed.funct3 !== undefined) [match, mask] = [match | funct3(fixed.funct3), mask | FUNCT3];
  if (fixed.rs2 !== undefined) [match, mask] = [match | rs2(fixed.rs2), mask | RS2];
  return encoding(name, match, mask, operands, fixed.xlen ?? 0);
}

/** The operations that both precisions have; `format` 0 single, 1 double. */
function floats(suffix: string, format: number): Encoding[] {
  const op = (
    name: string,
    funct5: number,
    operands: string,
    fixed: { funct3?: number; rs2?: number; xlen?: Xlen } = {},
  ) => float(name, funct5 * 4 + format, operands, fixed);
  // A double holds every 32-bit integer: the rounding mode of these two means nothing and is 0.
  const fromWord = format === 1 ? 'fd,rs1^' : 'fd,rs1~';
  const fused = ['fmadd', 'fmsub', 'fnmsub', 'fnmadd'].map((name, index) =>
    encoding(
      `${name}${suffix}`,
      (0x43 + index * 4) | (format * 2 ** 25),
      OPCODE | 0x0600_0000,
      'fd,fs1,fs2,fs3~',
    ),
  );
  return [
    ...fused,
    op(`fadd${suffix}`, 0, 'fd,fs1,fs2~'),
    op(`fsub${suffix}`, 1, 'fd,fs1,fs2~'),
    op(`fmul${suffix}`, 2, 'fd,fs1,fs2~'),
    op(`fdiv${suffix}`, 3, 'fd,fs1,fs2~'),
    op(`fsqrt${suffix}`, 0x0b, 'fd,fs1~', { rs2: 0 }),
    op(`fsgnj${suffix}`, 4, 'fd,fs1,fs2', { funct3: 0 }),
    op(`fsgnjn${suffix}`, 4, 'fd,fs1,fs2', { funct3: 1 }),
    op(`fsgnjx${suffix}`, 4, 'fd,fs1,fs2', { funct3: 2 }),
    op(`fmin${suffix}`, 5, 'fd,fs1,fs2', { funct3: 0 }),
    op(`fmax${suffix}`, 5, 'fd,fs1,fs2', { funct3: 1 }),
    op(`fle${suffix}`, 0x14, 'rd,fs1,fs2', { funct3: 0 }),
    op(`flt${suffix}`, 0x14, 'rd,fs1,fs2', { funct3: 1 }),
    op(`feq${suffix}`, 0x14, 'rd,fs1,fs2', { funct3: 2 }),
    op(`fclass${suffix}`, 0x1c, 'rd,fs1', { funct3: 1, rs2: 0 }),
    op(`fcvt.w${suffix}`, 0x18, 'rd,fs1~', { rs2: 0 }),
    op(`fcvt.wu${suffix}`, 0x18, 'rd,fs1~', { rs2: 1 }),
    op(`fcvt.l${suffix}`, 0x18, 'rd,fs1~', { rs2: 2, xlen: 64 }),
    op(`fcvt.lu${suffix}`, 0x18, 'rd,fs1~', { rs2: 3, xlen: 64 }),
    op(`fcvt${suffix}.w`, 0x1a, fromWord, { rs2: 0 }),
    op(`fcvt${suffix}.wu`, 0x1a, fromWord, { rs2: 1 }),
    op(`fcvt${suffix}.l`, 0x1a, 'fd,rs1~', { rs2: 2, xlen: 64 }),
    op(`fcvt${suffix}.lu`, 0x1a, 'fd,rs1~', { rs2: 3, xlen: 64 }),
  ];
}

const FLOAT: readonly Encoding[] = [
  ...byFunct3(',,flw,fld', 0x07, 'fd,imm(rs1)'),
  ...byFunct3(',,fsw,fsd', 0x27, 'fs2,simm(rs1)'),
  ...floats('.s', 0),
  ...floats('.d', 1),
  float('fcvt.s.d', 0x20, 'fd,fs1~', { rs2: 1 }),
  float('fcvt.d.s', 0x21, 'fd,fs1^', { rs2: 0 }),
  float('fmv.x.w', 0x70, 'rd,fs1', { funct3: 0, rs2: 0 }),
  float('fmv.w.x', 0x78, 'fd,rs1', { funct3: 0, rs2: 0 }),
  float('fmv.x.d', 0x71, 'rd,fs1', { funct3: 0, rs2: 0, xlen: 64 }),
  float('fmv.d.x', 0x79, 'fd,rs1', { funct3: 0, rs2: 0, xlen: 64 }),
];

/** Every instruction; where several fit, the first counts. */
export const ENCODINGS: readonly Encoding[] = [...INTEGER, ...SYSTEM, ...ATOMIC, ...FLOAT];

const CSRRW = 0x73 | funct3(1);
const CSRRS = 0x73 | funct3(2);
const csr = (number: number) => number * 2 ** 20;
const I_TYPE = OPCODE | FUNCT3;
const R_TYPE = OPCODE | FUNCT3 | FUNCT7;

const counterReads = ['cycle', 'time', 'instret'].flatMap((name, index) => [
  encoding(`rd${name}`, CSRRS | csr(0xc00 + index), I_TYPE | IMM | RS1, 'rd'),
  encoding(`rd${name}h`, CSRRS | csr(0xc80 + index), I_TYPE | IMM | RS1, 'rd', 32),
]);

const floatCsrs = ['fsflags:frflags', 'fsrm:frrm', 'fscsr:frcsr'].flatMap((names, index) => {
  const [write = '', read = ''] = names.split(':');
  const number = csr(index + 1);
  return [
    encoding(read, CSRRS | number, I_TYPE | IMM | RS1, 'rd'),
    encoding(write, CSRRW | number, I_TYPE | IMM | RD, 'rs1'),
    encoding(write, CSRRW | number, I_TYPE | IMM, 'rd,rs1'),
    ...(index < 2
      ? [
          encoding(`${write}i`, 0x73 | funct3(5) | number, I_TYPE | IMM | RD, 'zimm'),
          encoding(`${write}i`, 0x73 | funct3(5) | number, I_TYPE | IMM, 'rd,zimm'),
        ]
      : []),
  ];
});

const signs = [
  ['.s', 0],
  ['.d', 1],
].flatMap(([suffix, format]) =>
  ['fmv', 'fneg', 'fabs'].map((name, value) =>
    encoding(
      `${name}${suffix}`,
      0x53 | funct3(value) | ((0x10 + Number(format)) * 2 ** 25),
      R_TYPE,
      'fd,fs1',
      0,
      true,
    ),
  ),
);

const branchesToZero = [
  encoding('beqz', 0x63, I_TYPE | RS2, 'rs1,btarget'),
  encoding('bnez', 0x63 | funct3(1), I_TYPE | RS2, 'rs1,btarget'),
  encoding('blez', 0x63 | funct3(5), I_TYPE | RS1, 'rs2,btarget'),
  encoding('bgez', 0x63 | funct3(5), I_TYPE | RS2, 'rs1,btarget'),
  encoding('bltz', 0x63 | funct3(4), I_TYPE | RS2, 'rs1,btarget'),
  encoding('bgtz', 0x63 | funct3(4), I_TYPE | RS1, 'rs2,btarget'),
];

/** Pseudo-instructions: tried before the instructions they represent, the narrower first. */
export const PSEUDO: readonly Encoding[] = [
  encoding('nop', 0x13, ALL, ''),
  encoding('li', 0x13, I_TYPE | RS1, 'rd,imm'),
  encoding('mv', 0x13, I_TYPE | IMM, 'rd,rs1'),
  encoding('not', 0x13 | funct3(4) | imm(-1), I_TYPE | IMM, 'rd,rs1'),
  encoding('zext.b', 0x13 | funct3(7) | imm(255), I_TYPE | IMM, 'rd,rs1'),
  encoding('seqz', 0x13 | funct3(3) | imm(1), I_TYPE | IMM, 'rd,rs1'),
  encoding('sext.w', 0x1b, I_TYPE | IMM, 'rd,rs1', 64),
  encoding('neg', 0x33 | (0x20 * 2 ** 25), R_TYPE | RS1, 'rd,rs2'),
  encoding('negw', 0x3b | (0x20 * 2 ** 25), R_TYPE | RS1, 'rd,rs2', 64),
  encoding('snez', 0x33 | funct3(3), R_TYPE | RS1, 'rd,rs2'),
  encoding('sltz', 0x33 | funct3(2), R_TYPE | RS2, 'rd,rs1'),
  encoding('sgtz', 0x33 | funct3(2), R_TYPE | RS1, 'rd,rs2'),
  ...branchesToZero,
  encoding('j', 0x6f, OPCODE | RD, 'jtarget'),
  encoding('jal', 0x6f | rd(RA), OPCODE | RD, 'jtarget'),
  encoding('ret', 0x67 | rs1(RA), ALL, ''),
  encoding('jr', 0x67, I_TYPE | RD | IMM, 'rs1'),
  encoding('jr', 0x67, I_TYPE | RD, 'imm(rs1)'),
  encoding('jalr', 0x67 | rd(RA), I_TYPE | RD | IMM, 'rs1'),
  encoding('jalr', 0x67 | rd(RA), I_TYPE | RD, 'imm(rs1)'),
  encoding('jalr', 0x67, I_TYPE | IMM, 'rd,rs1'),
  encoding('pause', 0x0100_000f, ALL, ''),
  encoding('fence', 0x0ff0_000f, 0xfff0_707f, ''),
  encoding('sfence.vma', 0x1200_0073, ALL, ''),
  encoding('sfence.vma', 0x1200_0073, FUNCT7 | RS2 | FUNCT3 | RD | OPCODE, 'rs1'),
  UNIMP,
  ...counterReads,
  ...floatCsrs,
  encoding('csrr', CSRRS, I_TYPE | RS1, 'rd,csr'),
  encoding('csrw', CSRRW, I_TYPE | RD, 'csr,rs1'),
  encoding('csrs', CSRRS, I_TYPE | RD, 'csr,rs1'),
  encoding('csrc', 0x73 | funct3(3), I_TYPE | RD, 'csr,rs1'),
  encoding('csrwi', 0x73 | funct3(5), I_TYPE | RD, 'csr,zimm'),
  encoding('csrsi', 0x73 | funct3(6), I_TYPE | RD, 'csr,zimm'),
  encoding('csrci', 0x73 | funct3(7), I_TYPE | RD, 'csr,zimm'),
  ...signs,
];
