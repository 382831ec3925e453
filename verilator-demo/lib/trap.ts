/** Exception and interrupt causes (mcause). */
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
  TIMER: 0x8000_0007,
} as const;

/** Thrown inside the machine where an instruction cannot have its effect. */
export class Exception extends Error {
  constructor(
    readonly trapCause: number,
    readonly tval: number,
  ) {
    super(`exception ${trapCause}`);
  }
}
