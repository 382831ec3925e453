/** Finds single things of a core: the first fetch of an address, the stalls of a range. */
import { UscopeError } from '../../base/errors.js';
import { Action } from '../../format/types.js';
import { requireBigint } from '../../reader/arguments.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, labelOf, requireEntities } from './cores.js';
import { type CoreRange, rangeInPs } from './query-range.js';

/**
 * When an instruction at an address is fetched for the first time in a range; null when none is.
 * @throws UscopeError READER_NAME (the core records no instructions or no addresses), READER_RANGE (the address is not a bigint), FORMAT_* for damage
 */
export async function firstAt(
  trace: Trace,
  core: CpuCore,
  pc: bigint,
  range: CoreRange = {},
): Promise<bigint | null> {
  const { def, pcField } = requireEntities(core);
  if (pcField < 0) {
    throw new UscopeError('READER_NAME', `the instructions of ${core.name} have no field "pc"`);
  }
  requireBigint(pc, 'an address');
  const [lo, hi] = [Number(pc & 0xffff_ffffn), Number(pc >> 32n)];
  let found: bigint | null = null;
  await trace.scan(rangeInPs(core, range), {
    op: (cursor) => {
      if (cursor.storageId !== def.storageId || cursor.field !== pcField) return true;
      if (cursor.action !== Action.SET || cursor.lo !== lo || cursor.hi !== hi) return true;
      found = cursor.timePs;
      return false;
    },
  });
  return found;
}

export interface CoreStall {
  readonly timePs: bigint;
  /** Label of the reason; the number where it has none. */
  readonly reason: string;
}

/** The stall events of a core in a range, in file order. */
export async function* stalls(trace: Trace, core: CpuCore, range: CoreRange = {}): AsyncGenerator<CoreStall> {
  const { from, to } = rangeInPs(core, range);
  const event = core.events.get('stall');
  if (!event || from === to) return;
  const labels = event.fields.get('reason')?.labels ?? null;
  for await (const stall of trace.events(from, to, [event.def.eventTypeId])) {
    yield { timePs: stall.timePs, reason: labelOf(labels, Number(stall.field('reason') ?? 0n)) };
  }
}
