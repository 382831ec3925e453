/** Which panels have something to show of a trace. */
import { PANELS, type PanelId } from './panels.js';
import { type Described, isCounter, namesOf } from './track-lists.js';

/** As of the page's `TraceInfo`. */
interface Trace extends Omit<Described, 'core'> {
  /** Index of the core shown; negative: none. */
  readonly core: number;
}

const isNetwork = (protocol: string | null | undefined): boolean => /^noc(\.|$)/.test(protocol ?? '');

const THERE: Readonly<Partial<Record<PanelId, (trace: Trace) => boolean>>> = {
  statistics: ({ core }) => core >= 0,
  profile: ({ core }) => core >= 0,
  counters: (trace) => namesOf('counters', { ...trace, core: null }).length > 0,
  occupancy: (trace) => namesOf('buffers', { ...trace, core: null }).length > 0,
  transactions: ({ schema }) => schema.scopes.some(({ protocol }) => isNetwork(protocol)),
  events: (trace) => namesOf('events', { ...trace, core: null }).length > 0,
  values: ({ schema }) => schema.storages.some((storage) => !isCounter(storage)),
};

/** By default every trace has something for a panel. */
export const isForTrace = (id: PanelId, trace: Trace): boolean => THERE[id]?.(trace) ?? true;

export type TrackId = Extract<PanelId, 'counters' | 'occupancy' | 'transactions' | 'events' | 'values'>;

/** The tracks below the pipeline that a trace has something for, in their order. */
export const tracksOf = (trace: Trace): TrackId[] =>
  PANELS.flatMap(({ id, place }) => {
    const isTrack = place === 'track' && id !== 'overview' && id !== 'pipeline';
    return isTrack && isForTrace(id, trace) ? [id] : [];
  });

/** Catalogs of the networks: how many transactions are in flight. */
export const catalogsOf = ({ schema }: Pick<Described, 'schema'>): number[] =>
  schema.storages
    .filter(({ name, scopeId }) => name === 'transactions' && isNetwork(schema.scopes[scopeId]?.protocol))
    .map(({ storageId }) => storageId);
