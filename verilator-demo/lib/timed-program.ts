/** Programs that a timer interrupts again and again. */
import {
  addi,
  Csr,
  csrrc,
  csrrs,
  csrrw,
  ECALL,
  encode,
  li,
  lui,
  MRET,
  NOP,
  randomProgram,
  sw,
} from './assemble.js';
import { RAM_BASE } from './rv32im.js';

const HANDLER = 0x3000;

/** Sets mtimecmp, at x28 and without its high word, to the present cycle and x27 more. */
export const restartTimer = [csrrs(26, Csr.MCYCLE, 0), encode.r(0, 27, 26, 0, 26), sw(26, 28, 0)];

/** Starts the timer and lets it interrupt. Needs x25 to x28 for good. */
export const startTimer = (period: number): number[] => [
  addi(27, 0, period),
  lui(28, 0x2004),
  ...restartTimer,
  sw(0, 28, 4),
  ...li(25, 0x80),
  csrrs(0, Csr.MIE, 25),
  addi(25, 0, 8),
  csrrs(0, Csr.MSTATUS, 25),
];

/** Turns interrupts off again. */
export const interruptsOff = csrrc(0, Csr.MSTATUS, 25);

/** A random program under a timer, whose handler counts in x30; or the same words without interrupts. */
export function timedProgram(seed: number, length: number, period: number, isOn = true): number[] {
  const handler = [addi(30, 30, 1), ...restartTimer, MRET];
  const setUp = [...li(31, RAM_BASE + HANDLER), csrrw(0, Csr.MTVEC, 31), ...startTimer(period)];
  if (!isOn) setUp[setUp.length - 1] = NOP;
  const program = randomProgram(seed, length, setUp);
  // The ECALL at the end shall find no handler, so interrupts have to be off before.
  program.splice(program.lastIndexOf(ECALL), 0, interruptsOff, csrrw(0, Csr.MTVEC, 0));
  const gap = Array.from({ length: HANDLER / 4 - program.length }, () => NOP);
  return [...program, ...gap, ...handler, NOP, NOP, NOP, NOP];
}
