/** Do the counters of a core add up to what its instructions and events show? */
import type { InstructionClass } from '../../semantics/cpu/analysis/instruction-class.js';
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { CAUSES } from './causes.js';
import type { DoctorFinding } from './finding.js';

export interface Counted {
  readonly sums: ReadonlyMap<string, bigint>;
  readonly classes: ReadonlyMap<InstructionClass, number>;
  readonly stalls: ReadonlyMap<string, number>;
  readonly retired: number;
  readonly squashed: number;
  readonly born: number;
  readonly cycles: bigint;
}

/** First and last cycle may be counted or not. */
const CYCLES_APART = 2n;

/** @param knowsClasses the instruction set is known, so that loads can be told from others */
export function compareCounters(core: CpuCore, counted: Counted, knowsClasses: boolean): DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  const report = (kind: 'counters' | 'loads', detail: string, cause: string): void => {
    findings.push({ kind, core: core.name, detail, count: 1, firstTimePs: null, cause });
  };
  const within = (
    name: string,
    low: number,
    high: number,
    what: string,
    kind: 'counters' | 'loads',
    cause: string,
  ): void => {
    const sum = counted.sums.get(name);
    if (sum === undefined || (sum >= BigInt(low) && sum <= BigInt(high))) return;
    report(
      kind,
      `counter ${name} is ${sum}, but ${what}: ${low === high ? low : `${low} to ${high}`}`,
      cause,
    );
  };
  const exactly = (name: string, count: number, what: string): void =>
    within(name, count, count, what, 'counters', CAUSES.counters);

  if (core.entities && counted.born > 0) {
    exactly('committed_insns', counted.retired, 'instructions retired');
    exactly('squashed_insns', counted.squashed, 'instructions squashed');
    // Some cores count an instruction when it leaves fetch, others when it enters it.
    within(
      'fetched_insns',
      counted.retired + counted.squashed,
      counted.born,
      'instructions fetched',
      'counters',
      CAUSES.counters,
    );
  }
  for (const [reason, count] of counted.stalls)
    exactly(`stalls_${reason}`, count, `events stall with reason ${reason}`);
  if (knowsClasses) {
    const of = (...names: InstructionClass[]): number =>
      names.reduce((sum, name) => sum + (counted.classes.get(name) ?? 0), 0);
    const unclear = of('atomic', 'vector', 'other');
    const loads = of('load', 'float load');
    const stores = of('store', 'float store');
    within('loads', loads, loads + unclear, 'load instructions retired', 'loads', CAUSES.reads);
    within('stores', stores, stores + unclear, 'store instructions retired', 'loads', CAUSES.writes);
    within(
      'branches',
      of('branch'),
      of('branch') + of('other'),
      'branch instructions retired',
      'counters',
      CAUSES.counters,
    );
  }
  const cycles = counted.sums.get('cycles');
  if (cycles !== undefined && core.periodPs > 0n && counted.cycles > 0n) {
    const apart = cycles > counted.cycles ? cycles - counted.cycles : counted.cycles - cycles;
    if (apart > CYCLES_APART)
      report(
        'counters',
        `counter cycles is ${cycles}, but the frames span ${counted.cycles} cycles`,
        CAUSES.cycles,
      );
  }
  checkSlots(counted.sums, report);
  return findings;
}

/** Classes of dispatch slots: all of them together are a whole number of slots for each cycle. */
function checkSlots(
  sums: ReadonlyMap<string, bigint>,
  report: (kind: 'counters', detail: string, cause: string) => void,
): void {
  const slots = [...sums].filter(([name]) => name.startsWith('slots_'));
  const cycles = sums.get('cycles');
  if (slots.length < 2 || cycles === undefined || cycles === 0n) return;
  const sum = slots.reduce((total, [, value]) => total + value, 0n);
  if (sum % cycles !== 0n)
    report(
      'counters',
      `the counters slots_* add up to ${sum}, which is not a multiple of ${cycles} cycles`,
      CAUSES.slots,
    );
}
