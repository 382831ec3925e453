import type { Trace } from '../../sdk/src/reader/trace.js';

export type NocOpcode = 'fetch_line' | 'read_line' | 'write' | 'lr' | 'sc' | 'amo';

/** What memory did at the end of a cycle. */
export interface Performed {
  readonly cycle: number;
  readonly port: number;
  readonly opcode: NocOpcode;
  readonly addr: number;
}

export interface NocPort {
  /** What the interconnect counts, counted from the transactions. */
  readonly counted: Readonly<Record<string, number>>;
  /** Cycles from request to grant, both included. */
  readonly maxWait: number;
}

export interface NocAuditResult {
  readonly frames: number;
  readonly items: number;
  readonly born: number;
  readonly completed: number;
  readonly opcodeCounts: Readonly<Record<NocOpcode, number>>;
  /** In the order of memory, which is that of time. */
  readonly performed: readonly Performed[];
  /** Cycles from birth to end. */
  readonly latencies: readonly { readonly opcode: NocOpcode; readonly port: number; readonly cycles: number }[];
  /** Sums of the counters of the trace. */
  readonly counters: {
    readonly cycles: number;
    readonly busy_cycles: number;
    readonly ports: readonly Readonly<Record<string, number>>[];
  };
  readonly ports: readonly NocPort[];
  /** The request that waited longest for its grant. */
  readonly longestWait: { readonly port: number; readonly until: number; readonly cycles: number };
  /** Violations; empty for a sound trace. */
  readonly problems: readonly string[];
}

export function auditNoc(trace: Pick<Trace, 'names' | 'schema' | 'scan' | 'clockOf'>, scope?: string): Promise<NocAuditResult>;

export function compareNocWithReport(
  audit: NocAuditResult,
  report: {
    readonly cycles: string;
    readonly cores: readonly { readonly port: Readonly<Record<string, string>> }[];
  },
): string[];
