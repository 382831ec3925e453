/**
 * Constrained-random programs for the out-of-order core: loops, calls, returns and indirect jumps for the predictor; loads and stores
 * whose addresses come late and often meet, for the queues; divisions, traps, CSR instructions, fences and timer interrupts in between.
 */
import {
  addi,
  Csr,
  csrrs,
  csrrw,
  ECALL,
  encode,
  FENCE,
  jalr,
  li,
  lui,
  lw,
  MRET,
  NOP,
  randomSource,
  sw,
  WFI,
} from './assemble.js';
import { RAM_BASE } from './rv32im.js';
import { interruptsOff, restartTimer, startTimer } from './timed-program.js';

const HANDLER = 0x3000;
const DATA = 0x4000;
/** Registers: x1 link, x2 to x7 values, x8 and x9 into the data, x10 address, x11 of jumps, x12 rounds, x13 loops, x25 to x31 traps. */
const [LINK, BASE, ALIAS, ADDRESS, JUMP, ROUNDS, LOOP] = [1, 8, 9, 10, 11, 12, 13] as const;
const FIRST_VALUE = 2;
const VALUES = 6;

/** About `length` instructions are executed. */
export function o3Program(seed: number, length: number, period: number): number[] {
  const random = randomSource(seed);
  const body = new Body(random);
  const setUp = [
    ...li(31, RAM_BASE + HANDLER),
    csrrw(0, Csr.MTVEC, 31),
    ...startTimer(period),
    ...li(BASE, RAM_BASE + DATA),
    addi(ALIAS, BASE, 64),
  ];
  for (let r = FIRST_VALUE; r < FIRST_VALUE + VALUES; r++) setUp.push(...li(r, random(2 ** 31)));
  const functions = Array.from({ length: 4 }, () => body.function());
  const round = body.block(600, functions);
  const entry = [...setUp, ...li(ROUNDS, Math.max(1, Math.round(length / 1000)))];
  const words = [...entry, encode.jal(0, 4 * (1 + functions.flat().length))];
  // Calls go backwards: the functions are in front of what calls them.
  const places = functions.map((words_) => {
    const at = words.length;
    words.push(...words_);
    return at;
  });
  const start = words.length;
  words.push(...round.map((word) => (typeof word === 'number' ? word : 0)));
  round.forEach((word, index) => {
    if (typeof word !== 'number')
      words[start + index] = encode.jal(LINK, 4 * (places[word.call]! - start - index));
  });
  words.push(
    addi(ROUNDS, ROUNDS, -1),
    encode.b(0, ROUNDS, 0, 8),
    encode.jal(0, 4 * (start - words.length - 2)),
  );
  words.push(interruptsOff, csrrw(0, Csr.MTVEC, 0));
  for (let at = 0; at < 128; at += 4) words.push(lw(2, BASE, at), encode.r(0, 2, 3, 4, 3), mulBy(3));
  words.push(ECALL, NOP, NOP, NOP, NOP);
  if (words.length > HANDLER / 4) throw new Error(`the program has ${words.length} instructions`);
  return [...words, ...Array.from({ length: HANDLER / 4 - words.length }, () => NOP), ...handler()];
}

const mulBy = (r: number): number => encode.r(1, r, r, 0, r);

/** Interrupts start the timer anew; what raised an exception is skipped. */
function handler(): number[] {
  const interrupt = [addi(30, 30, 1), ...restartTimer, MRET];
  const exception = [addi(24, 24, 1), csrrs(29, Csr.MEPC, 0), addi(29, 29, 4), csrrw(0, Csr.MEPC, 29), MRET];
  const skip = encode.b(5, 29, 0, 4 * (interrupt.length + 1));
  return [csrrs(29, Csr.MCAUSE, 0), skip, ...interrupt, ...exception, NOP, NOP, NOP, NOP];
}

type Word = number | { readonly call: number };

class Body {
  constructor(private readonly random: (n: number) => number) {}

  private value(): number {
    return FIRST_VALUE + this.random(VALUES);
  }

  /** Returns by the link register, which calls inside would need. */
  function(): number[] {
    const words: number[] = [];
    while (words.length < 8 + this.random(12)) words.push(...this.straight());
    return [...words, jalr(0, LINK, 0)];
  }

  block(length: number, functions: readonly number[][]): Word[] {
    const words: Word[] = [];
    while (words.length < length) {
      const kind = this.random(10);
      if (kind === 0) words.push({ call: this.random(functions.length) });
      else if (kind === 1) words.push(...this.loop());
      else if (kind === 2) words.push(...this.forward());
      else if (kind === 3) words.push(...this.indirect());
      else words.push(...this.straight());
    }
    return words;
  }

  private loop(): number[] {
    const inside: number[] = [];
    while (inside.length < 4 + this.random(6)) inside.push(...this.straight());
    const back = -4 * (inside.length + 1);
    return [addi(LOOP, 0, 1 + this.random(6)), ...inside, addi(LOOP, LOOP, -1), encode.b(1, LOOP, 0, back)];
  }

  /** A branch over a few instructions, often on a bit that is hard to predict. */
  private forward(): number[] {
    const over: number[] = [];
    for (let i = 0; i <= this.random(3); i++) over.push(...this.straight());
    const funct3 = [0, 1, 4, 5, 6, 7][this.random(6)]!;
    return [encode.b(funct3, this.value(), this.value(), 4 * (over.length + 1)), ...over];
  }

  /** A jump to one of two places, as a value says. */
  private indirect(): number[] {
    const [a, b] = [this.straight(), this.straight()];
    // x10 is 0 or the length of the first part, in bytes.
    const choose = [encode.i(0x13, 7, ADDRESS, this.value(), 1), addi(0, 0, 0)];
    const scale = [addi(JUMP, 0, 4 * a.length), encode.r(1, JUMP, ADDRESS, 0, ADDRESS)];
    const jump = [encode.u(0x17, JUMP, 0), encode.r(0, ADDRESS, JUMP, 0, JUMP), jalr(0, JUMP, 12)];
    return [...choose, ...scale, ...jump, ...a, ...b];
  }

  private straight(): number[] {
    const { random } = this;
    switch (random(16)) {
      case 0:
      case 1:
        return [this.load(random(2) ? BASE : ALIAS, random(32))];
      case 2:
      case 3:
        return [this.storeTo(random(2) ? BASE : ALIAS, random(32))];
      case 4:
        return [...this.lateAddress(), this.load(ADDRESS, 0)];
      case 5:
        return [...this.lateAddress(), this.storeTo(ADDRESS, 0), this.load(BASE, random(16))];
      case 6:
        return [encode.r(1, this.value(), this.value(), random(8), this.value())];
      case 7:
        return [this.seldom()];
      default: {
        const funct3 = random(8);
        const alternate = (funct3 === 0 || funct3 === 5) && random(2) ? 0x20 : 0;
        if (random(2)) return [encode.r(alternate, this.value(), this.value(), funct3, this.value())];
        if (funct3 === 1 || funct3 === 5)
          return [encode.i(0x13, funct3, this.value(), this.value(), random(32))];
        return [encode.i(0x13, funct3, this.value(), this.value(), random(4096) - 2048)];
      }
    }
  }

  private load(base: number, word: number): number {
    const funct3 = [0, 1, 2, 4, 5][this.random(5)]!;
    const size = 1 << (funct3 & 3);
    return encode.i(0x03, funct3, this.value(), base, 4 * word + size * this.random(4 / size));
  }

  private storeTo(base: number, word: number): number {
    const funct3 = this.random(3);
    const size = 1 << funct3;
    return encode.s(funct3, this.value(), base, 4 * word + size * this.random(4 / size));
  }

  /** An address that a multiplication or division has to come before. */
  private lateAddress(): number[] {
    const slow = encode.r(1, this.value(), this.value(), this.random(2) ? 0 : 6, ADDRESS);
    // Near, where it meets others, or far, where it misses in the cache.
    const mask = this.random(2) ? 0x3c : 0x7fc;
    return [slow, encode.i(0x13, 7, ADDRESS, ADDRESS, mask), encode.r(0, BASE, ADDRESS, 0, ADDRESS)];
  }

  private seldom(): number {
    const { random } = this;
    switch (random(9)) {
      case 0:
        return FENCE;
      case 1:
        return csrrs(this.value(), [Csr.MCYCLE, Csr.MINSTRET, Csr.MTVAL][random(3)]!, 0);
      case 2:
        return csrrw(this.value(), Csr.MSCRATCH, this.value());
      case 3:
        return ECALL;
      case 4:
        return 0xffff_ffff;
      case 5:
        return lw(this.value(), BASE, 1 + random(3));
      case 6:
        return sw(this.value(), 0, 4 * random(8));
      case 7:
        return random(4) ? NOP : WFI;
      default:
        return lui(this.value(), random(1 << 20));
    }
  }
}
