/** Flushes and stalls that name an instruction: as the blocks have them, which know whose an id is that was given away in the same cycle. */
import type { InstructionBlock } from '../blocks/block.js';
import type { CpuCore } from '../cpu/cores.js';
import type { EventTerm } from './pattern.js';
import type { RowCondition } from './row-conditions.js';

export class ReasonCondition implements RowCondition {
  /** Values of the reason that are wanted; null: any. */
  private readonly values: ReadonlySet<number> | null;

  /** null: such events of the core name no instruction. */
  static of(core: CpuCore, term: EventTerm): ReasonCondition | null {
    const { role } = term;
    const isNamed = role !== null && core.events.get(role)?.fields.has('entity_id');
    return isNamed ? new ReasonCondition(core, term, role) : null;
  }

  private constructor(
    core: CpuCore,
    { conditions }: EventTerm,
    private readonly role: 'flush' | 'stall',
  ) {
    const [condition] = conditions;
    const labels = core.events.get(role)?.fields.get('reason')?.labels;
    const named = labels?.values.filter(({ name }) => name === condition?.value) ?? [];
    const number = condition?.number;
    this.values = condition
      ? new Set([...named.map(({ value }) => value), ...(number == null ? [] : [Number(number)])])
      : null;
  }

  keep(block: InstructionBlock, rows: Uint8Array): void {
    const { row, reason } = this.role === 'flush' ? block.flushes : block.stalls;
    const happened = new Uint8Array(rows.length);
    for (let at = 0; at < row.length; at++) {
      if (this.values === null || (reason !== null && this.values.has(reason[at]))) happened[row[at]] = 1;
    }
    for (let at = 0; at < rows.length; at++) rows[at] &= happened[at];
  }
}
