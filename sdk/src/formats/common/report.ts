/**
 * What a conversion kept, approximated and dropped. Formats name the kinds of things they meet; the counts add up while the data streams
 * by, so the report costs a map lookup per kind, not memory per item.
 */

/** kept: says the same in the output; approximated: is there, but says less or something inferred; dropped: is not there. */
export const Fate = { KEPT: 'kept', APPROXIMATED: 'approximated', DROPPED: 'dropped' } as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

export interface ReportRow {
  readonly fate: Fate;
  /** Kind of thing, in the source format's words: `INST_REG records`, `event stall`. */
  readonly what: string;
  /** How it appears in the output, or why it does not. */
  readonly how: string;
  readonly count: bigint;
}

/** A counter that converters keep at hand: `tally.count += 1`. */
export interface Tally {
  count: number;
}

interface Entry extends Tally {
  readonly fate: Fate;
  readonly what: string;
  readonly how: string;
}

export class ConversionReport {
  private readonly entries = new Map<string, Entry>();

  /** The tally of one kind; the same one for the same words. Kinds that never occur are not reported. */
  tally(fate: Fate, what: string, how: string): Tally {
    const key = `${fate}\0${what}\0${how}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = { fate, what, how, count: 0 };
      this.entries.set(key, entry);
    }
    return entry;
  }

  kept(what: string, how = 'as it is'): Tally {
    return this.tally(Fate.KEPT, what, how);
  }

  approximated(what: string, how: string): Tally {
    return this.tally(Fate.APPROXIMATED, what, how);
  }

  dropped(what: string, why: string): Tally {
    return this.tally(Fate.DROPPED, what, why);
  }

  /** Kept first, then approximated, then dropped; each in the order in which they were first met. */
  get rows(): ReportRow[] {
    const order = [Fate.KEPT, Fate.APPROXIMATED, Fate.DROPPED];
    return [...this.entries.values()]
      .filter(({ count }) => count > 0)
      .sort((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate))
      .map(({ fate, what, how, count }) => ({ fate, what, how, count: BigInt(count) }));
  }

  /** What was dropped, without the kinds the user waived (matched on `what`; `all` waives everything). */
  unwaived(waived: ReadonlySet<string> = new Set()): ReportRow[] {
    if (waived.has('all')) return [];
    return this.rows.filter(({ fate, what }) => fate === Fate.DROPPED && !waived.has(what));
  }
}
