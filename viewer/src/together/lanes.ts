/** Which pictures the page has: one for each core of each trace, and one for the networks of each trace that has some. */
import type { TraceInfo } from '../data/protocol.js';

export interface TraceRef {
  readonly name: string;
  /** Absolute address of the trace. */
  readonly url: string;
}

export interface LaneRef {
  readonly key: string;
  readonly name: string;
  readonly kind: 'core' | 'network';
  readonly trace: TraceRef;
  /** Core of the trace; null: it has none. */
  readonly core: string | null;
  /** Of a core, the port of networks through which it asks; -1: not known. */
  readonly port: number;
}

/** Height of a picture without its axis, CSS pixels; that of a network fills what is left. */
export const HEIGHTS = { collapsed: 92, expanded: 340, network: 200 } as const;
/** Where function and line are written beside instructions too. */
export const GUTTERS = { plain: 230, withProgram: 480 } as const;

const OFF = ['overview', 'counters', 'occupancy', 'events', 'values'].map((id) => `${id}.off`);

/** What a frame shows. */
export function linkOf({ kind, core }: LaneRef, isExpanded: boolean, theme: string, gutter: number): string {
  const panels =
    kind === 'core'
      ? ['dock.off', ...OFF, 'transactions.off']
      : ['dock.off', ...OFF, 'pipeline.off', 'transactions.on.4000'];
  const form = kind === 'core' && !isExpanded ? 'strip' : 'auto';
  const link = new URLSearchParams({ v: '1', panels: panels.join(','), form, gutter: String(gutter), theme });
  if (core !== null) link.set('core', core);
  return `#${link}`;
}

/** The lanes of an opened trace, cores first. @param before cores of the traces before it */
export function lanesOf(trace: TraceRef, info: TraceInfo, before: number): LaneRef[] {
  const hasSeveral = info.cores.length > 1;
  const cores = info.cores.map(
    ({ name }, index): LaneRef => ({
      key: laneKey(trace, index),
      name: hasSeveral || trace.name === '' ? name : trace.name.replace(/\.uscope$/, ''),
      kind: 'core',
      trace,
      core: hasSeveral ? name : null,
      port: portOf(hasSeveral ? name : trace.name) ?? before + index,
    }),
  );
  return hasNetworks(info) ? [...cores, networkLane(trace, info, cores.length)] : cores;
}

/** The first lane of a trace is there before the trace is open. */
export const laneKey = ({ url }: TraceRef, index: number): string => `${url} ${index}`;

/** `core2` asks at port 2: the number at the end of a name; null: there is none. */
function portOf(name: string): number | null {
  const number = /(\d+)(\.uscope)?$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

const hasNetworks = ({ schema }: TraceInfo): boolean =>
  schema.scopes.some(({ protocol }) => protocol === 'noc' || protocol?.startsWith('noc.'));

const networkLane = (trace: TraceRef, info: TraceInfo, index: number): LaneRef => ({
  key: laneKey(trace, index),
  name: 'network',
  kind: 'network',
  trace,
  core: info.cores.length > 1 ? (info.cores[0]?.name ?? null) : null,
  port: -1,
});
