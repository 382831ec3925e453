/** The component of each panel of `model/panels.ts`. Overview and pipeline are drawn by the drawing worker and belong to the page itself. */
import type { ComponentType } from 'preact';
import type { TraceInfo } from '../data/protocol.js';
import { type PanelId, type PanelInfo, PANELS } from '../model/panels.js';
import { isCounter, namesOf, type TrackList } from '../model/track-lists.js';
import { Counters } from './counters.js';
import { Inspector } from './inspector.js';
import { Transactions } from './transactions.js';
import { Events, Occupancy, Values } from './track-lanes.js';

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
  counters: { component: Counters, isThere: has('counters') },
  occupancy: { component: Occupancy, isThere: has('buffers') },
  transactions: {
    component: Transactions,
    isThere: ({ schema }) => schema.scopes.some(({ protocol }) => /^noc(\.|$)/.test(protocol ?? '')),
  },
  events: { component: Events, isThere: has('events') },
  values: {
    component: Values,
    isThere: ({ schema }) => schema.storages.some((storage) => !isCounter(storage)),
  },
  inspector: { component: Inspector, isThere: ({ core }) => core >= 0 },
};

/** Of panels that are there for this trace. */
export function panelsOf(trace: TraceInfo, place: PanelInfo['place']): readonly (PanelInfo & PanelPart & { readonly id: PanelId })[] {
  return PANELS.flatMap((panel) => {
    if (panel.place !== place || panel.id === 'overview' || panel.id === 'pipeline') return [];
    const part = PARTS[panel.id];
    return (part.isThere?.(trace) ?? true) ? [{ ...panel, ...part }] : [];
  });
}
