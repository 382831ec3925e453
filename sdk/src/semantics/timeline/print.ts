/** A timeline of one core as text: what `uscope timeline` prints, and what the viewer copies. */
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../cpu/cores.js';
import type { TimelineRange } from './selection.js';
import { selected, stallsOf } from './selection.js';
import { TextTimeline } from './text.js';

/** Width where nothing says another one, as in a pipe. */
export const DEFAULT_TIMELINE_WIDTH = 120;

export interface PrintOptions {
  /** Characters per line. */
  readonly width: number;
  readonly colour: boolean;
  readonly out: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface PrintedRows {
  readonly printed: number;
  /** In flight, without anything known: not listed. */
  readonly silent: number;
}

/** @throws what `signal` was aborted with */
export async function printTimeline(
  trace: Trace,
  core: CpuCore,
  range: TimelineRange,
  { width, colour, out, signal }: PrintOptions,
): Promise<PrintedRows> {
  const timeline = new TextTimeline(core, range, stallsOf(trace, core, range), {
    width,
    colour,
    lastCycle: trace.totalTimePs / core.periodPs,
    out,
  });
  for await (const instruction of selected(trace, core, range, 'range')) {
    signal?.throwIfAborted();
    await timeline.add(instruction);
  }
  await timeline.finish();
  return { printed: timeline.printed, silent: timeline.silent };
}
