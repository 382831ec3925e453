/** What is done with stretches of a trace, by kind: for threads that look at some of them (see `StretchRunner`). */
import type { Trace } from '../reader/index.js';
import type { StretchCall } from './common/stretches.js';
import { PERFORMANCE } from './cpu/analysis/analyze.js';
import { performanceStretch } from './cpu/analysis/stretch.js';
import { COUNTERS, counterStretch } from './cpu/counters.js';
import { OCCUPANCY, occupancyStretch } from './cpu/occupancy.js';

/** Work and what it gives are plain data of the kind. */
// biome-ignore lint/suspicious/noExplicitAny: the code that sends the work knows its type
type StretchWork = (trace: Trace, work: any, call: StretchCall) => Promise<unknown>;

export const STRETCH_WORK: Readonly<Record<string, StretchWork>> = {
  [PERFORMANCE]: performanceStretch,
  [OCCUPANCY]: occupancyStretch,
  [COUNTERS]: counterStretch,
};
