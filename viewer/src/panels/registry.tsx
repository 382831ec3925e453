/** The component of each panel of `model/panels.ts`. Overview and pipeline are drawn by the drawing worker and belong to the page itself. */
import type { ComponentType } from 'preact';
import type { TraceInfo } from '../data/protocol.js';
import { type PanelId, type PanelInfo, PANELS } from '../model/panels.js';
import { isForTrace } from '../model/trace-panels.js';
import { later } from './later.js';
import { SqlLater } from './sql/later.js';

const COMPONENTS: Readonly<Record<Exclude<PanelId, 'overview' | 'pipeline'>, ComponentType>> = {
  inspector: later('Inspector'),
  places: later('PlacesPanel'),
  statistics: later('Statistics'),
  profile: later('Profile'),
  results: later('Results'),
  sql: SqlLater,
  counters: later('Counters'),
  occupancy: later('Occupancy'),
  transactions: later('Transactions'),
  events: later('Events'),
  values: later('Values'),
};

/** Of panels that are there for this trace. */
export function panelsOf(trace: TraceInfo, place: PanelInfo['place']): readonly (PanelInfo & { readonly component: ComponentType; readonly id: PanelId })[] {
  return PANELS.flatMap((panel) => {
    if (panel.place !== place || panel.id === 'overview' || panel.id === 'pipeline') return [];
    return isForTrace(panel.id, trace) ? [{ ...panel, component: COMPONENTS[panel.id] }] : [];
  });
}
