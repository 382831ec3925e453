/** What `uscope doctor` finds implausible, and what in a tracer is the likely cause. */

export const FINDING_KINDS = [
  'protocol',
  'clock',
  'loads',
  'stages',
  'ids',
  'counters',
  'order',
  'flow',
  'width',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

export interface DoctorFinding {
  readonly kind: FindingKind;
  /** Name of the core; null: the whole trace. */
  readonly core: string | null;
  /** What is implausible. */
  readonly detail: string;
  /** How often; 1 for what is said of the trace as a whole. */
  readonly count: number;
  /** The first time it is seen; null where there is no such time. */
  readonly firstTimePs: bigint | null;
  /** The likely cause in the tracer, and what to do. */
  readonly cause: string;
}

/** Counts cases of one kind and keeps the first. */
export class Cases {
  count = 0;
  firstTimePs: bigint | null = null;
  example = '';

  add(timePs: bigint, example: string): void {
    if (this.count === 0) {
      this.firstTimePs = timePs;
      this.example = example;
    }
    this.count++;
  }

  /** Nothing where there was no case. */
  finding(kind: FindingKind, core: string, say: (cases: Cases) => string, cause: string): DoctorFinding[] {
    if (this.count === 0) return [];
    const { count, firstTimePs } = this;
    return [{ kind, core, detail: say(this), count, firstTimePs, cause }];
  }
}

/** `1 instruction`, `12 instructions`. */
export function many(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}
