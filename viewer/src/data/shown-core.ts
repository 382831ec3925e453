/** The core that is shown; of a trace without cores one that has nothing. */
import type { CoreInfo, TraceInfo } from './protocol.js';

export function shownCore({ cores, core, clock }: TraceInfo): CoreInfo {
  const none = { name: '', stages: [], isa: null, xlen: null };
  return cores[core] ?? { ...none, periodPs: clock?.periodPs ?? 0, clock: clock?.name ?? null };
}
