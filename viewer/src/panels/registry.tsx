/** The component of each panel of `model/panels.ts`. Overview and pipeline are drawn by the drawing worker and belong to the page itself. */
import type { ComponentType } from 'preact';
import type { TraceInfo } from '../data/protocol.js';
import { type PanelId, type PanelInfo, PANELS } from '../model/panels.js';
import { isCounter, namesOf, type TrackList } from '../model/track-lists.js';
import { later } from './later.js';
import { SqlLater } from './sql/later.js';

export interface PanelPart {
  readonly component: ComponentType;
  /** Whether this trace has something for it; by default every one has. */
  readonly isThere?: (info: TraceInfo) => boolean;
}

const has =
  (list: Exclude<TrackList, 'values'>) =>
  (trace: TraceInfo): boolean =>
    namesOf(list, { ...trace, core: null }).length > 0;

const PARTS: Readonly<Record<Exclude<PanelId, 'overview' | 'pipeline'>, PanelPart>> = {
  inspector: { component: later('Inspector') },
  places: { component: later('PlacesPanel') },
  statistics: { component: later('Statistics'), isThere: ({ core }) => core >= 0 },
  profile: { component: later('Profile'), isThere: ({ core }) => core >= 0 },
  results: { component: later('Results') },
  sql: { component: SqlLater },
  counters: { component: later('Counters'), isThere: has('counters') },
  occupancy: { component: later('Occupancy'), isThere: has('buffers') },
  transactions: {
    component: later('Transactions'),
    isThere: ({ schema }) => schema.scopes.some(({ protocol }) => /^noc(\.|$)/.test(protocol ?? '')),
  },
  events: { component: later('Events'), isThere: has('events') },
  values: {
    component: later('Values'),
    isThere: ({ schema }) => schema.storages.some((storage) => !isCounter(storage)),
  },
};

/** Of panels that are there for this trace. */
export function panelsOf(trace: TraceInfo, place: PanelInfo['place']): readonly (PanelInfo & PanelPart & { readonly id: PanelId })[] {
  return PANELS.flatMap((panel) => {
    if (panel.place !== place || panel.id === 'overview' || panel.id === 'pipeline') return [];
    const part = PARTS[panel.id];
    return (part.isThere?.(trace) ?? true) ? [{ ...panel, ...part }] : [];
  });
}
