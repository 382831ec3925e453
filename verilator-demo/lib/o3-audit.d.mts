import type { Trace } from '../../sdk/src/reader/trace.js';
import type { AuditResult, CoreReport, Instruction } from './audit.mjs';

/** Numbers of the stages in o3.yaml. */
export const Stage: Readonly<Record<'FETCH' | 'DECODE' | 'ISSUE' | 'EXECUTE' | 'MEMORY' | 'COMPLETE', number>>;

/** One instruction; a stage that it skipped has no time. */
export interface O3Instruction extends Omit<Instruction, 'enteredAt'> {
  readonly enteredAt: readonly (number | null)[];
}

export interface O3AuditResult extends AuditResult {
  /** Instructions issued in vain, and loads that had to come again. */
  readonly replays: number;
  readonly retries: number;
  /** Entries of each queue taken at the same time, at most. */
  readonly most: Readonly<Record<string, number>>;
  /** Physical registers free at the end. */
  readonly free: number | null;
}

export function auditO3(
  trace: Pick<Trace, 'names' | 'schema' | 'scan'>,
  onInstruction?: (instruction: O3Instruction) => void,
  scope?: string,
): Promise<O3AuditResult>;

export function compareO3(audit: O3AuditResult, report: CoreReport): string[];
