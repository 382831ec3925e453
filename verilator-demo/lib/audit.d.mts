import type { Trace } from '../../sdk/src/reader/trace.js';

/** One instruction, from its birth to its end. Times in ps. */
export interface Instruction {
  /** Order of birth, from 0. */
  readonly serial: number;
  readonly slot: number;
  readonly bornAt: number;
  readonly pc: number;
  readonly inst_bits: number;
  /** Index of the annotation's text. */
  readonly text: number;
  /** When each stage was entered, fetch first. */
  readonly enteredAt: readonly number[];
  /** Serial numbers of the instructions that handed it a value while they were in flight. */
  readonly producers: readonly number[];
  /** Value of `flush_reason`; null for a retired instruction. */
  readonly flushed: number | null;
  /** Set for an instruction that raised an exception or in whose place an interrupt was taken. */
  readonly trap: TracedTrap | null;
  /** What it put into the store buffer. */
  readonly store: { readonly addr: number; readonly data: number; readonly strobe: number } | null;
  readonly endedAt: number;
  readonly isRetired: boolean;
  /** Register written at retirement. */
  readonly write: { readonly rd: number; readonly value: number } | null;
}

export interface TracedTrap {
  /** As mcause. */
  readonly cause: bigint;
  readonly tval: bigint;
  /** Address of the handler, 0 = none. */
  readonly target: bigint;
}

export interface AuditResult {
  readonly frames: number;
  readonly items: number;
  readonly born: number;
  readonly retired: number;
  readonly squashed: number;
  /** Stall events by reason. */
  readonly stalls: Readonly<Record<string, number>>;
  /** Frames in which instructions were squashed, by reason. */
  readonly flushes: Readonly<Record<string, number>>;
  readonly dependencies: number;
  readonly traps: readonly (TracedTrap & { readonly entity: { readonly pc: number } })[];
  /** Sums of the counters, by storage name. */
  readonly counters: Readonly<Record<string, bigint>>;
  /** x0 .. x31 at the end. */
  readonly registers: readonly number[];
  /** Violations of the protocol's rules; empty for a sound trace. */
  readonly problems: readonly string[];
}

export interface CoreReport {
  readonly counters: Readonly<Record<string, string>>;
  readonly registers: readonly number[];
}

export function auditTrace(
  trace: Pick<Trace, 'names' | 'schema' | 'scan'>,
  onInstruction?: (instruction: Instruction) => void,
  scope?: string,
): Promise<AuditResult>;

export function compareWithReport(audit: AuditResult, report: CoreReport): string[];
