/** State of the page of several traces. */
import { signal } from '@preact/signals';
import type { Problem, TraceInfo } from '../data/protocol.js';
import type { Step } from './journey.js';
import { GUTTERS, type LaneRef, laneKey, lanesOf, type TraceRef } from './lanes.js';
import type { TimeWindow } from './time-sync.js';

const asked = new URLSearchParams(location.search);
const named = [...document.querySelectorAll<HTMLMetaElement>('meta[name="uscope-trace"]')].map(
  ({ content }) => content,
);

function refOf(address: string): TraceRef {
  const url = new URL(address, document.baseURI).href;
  // `traces/core0/trace.uscope` of a directory, else the file's own name.
  const parts = new URL(url).pathname.split('/');
  const last = parts.at(-1) === 'trace.uscope' ? parts.at(-2) : parts.at(-1);
  return { url, name: decodeURIComponent(last ?? '') };
}

/** `?trace=URL&trace=URL`, else what the server that made this page wrote into it. */
export const traces: readonly TraceRef[] = (asked.has('trace') ? asked.getAll('trace') : named)
  .filter((address) => address !== '')
  .map(refOf);

/** Width of the labels at the left of every picture: all have the same, so that time is at the same place. */
export const gutter = document.querySelector('meta[name="uscope-elf"]') ? GUTTERS.withProgram : GUTTERS.plain;

/** By address of the trace, as they are opened. */
export const infos = signal<ReadonlyMap<string, TraceInfo>>(new Map());
export const expanded = signal<ReadonlySet<string>>(new Set());
export const problems = signal<readonly Problem[]>([]);
/** What of the time is on screen; null: nothing is open yet. */
export const time = signal<TimeWindow | null>(null);
/** The way that is followed; null: none. */
export const journey = signal<{ readonly steps: readonly Step[]; readonly at: number } | null>(null);
export const notice = signal('');
/** The lane touched last. */
export const touched = signal<string | null>(null);

/** Traces that are not opened yet have one lane, which opens them. */
export function lanes(): LaneRef[] {
  let cores = 0;
  return traces.flatMap((trace) => {
    const info = infos.value.get(trace.url);
    if (!info)
      return [
        { key: laneKey(trace, 0), name: trace.name, kind: 'core', trace, core: null, port: -1 } as const,
      ];
    const found = lanesOf(trace, info, cores);
    cores += info.cores.length;
    return found;
  });
}
