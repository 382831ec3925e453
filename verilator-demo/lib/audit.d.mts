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
  readonly endedAt: number;
  readonly isRetired: boolean;
  /** Register written at retirement. */
  readonly write: { readonly rd: number; readonly value: number } | null;
}

export interface AuditResult {
  readonly frames: number;
  readonly items: number;
  readonly born: number;
  readonly retired: number;
  readonly squashed: number;
  readonly stalls: number;
  readonly dependencies: number;
  readonly traps: readonly { readonly entity: { readonly pc: number }; readonly cause: bigint; readonly tval: bigint }[];
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
