/** The component of each panel of `model/panels.ts`. Overview and pipeline are drawn by the drawing worker and belong to the page itself. */
import type { ComponentType } from 'preact';
import type { TraceInfo } from '../data/protocol.js';
import { type PanelId, type PanelInfo, PANELS } from '../model/panels.js';
import { isForTrace } from '../model/trace-panels.js';
import { Counters } from './tracks/counters.js';
import { Inspector } from './dock/inspector.js';
import { PlacesPanel } from './dock/places.js';
import { Profile } from './dock/profile.js';
import { Results } from './dock/results.js';
import { Sql } from './dock/sql/panel.js';
import { Statistics } from './dock/statistics.js';
import { Events, Occupancy, Values } from './tracks/track-lanes.js';
import { Transactions } from './tracks/transactions.js';

const COMPONENTS: Readonly<Record<Exclude<PanelId, 'overview' | 'pipeline'>, ComponentType>> = {
  inspector: Inspector,
  places: PlacesPanel,
  statistics: Statistics,
  profile: Profile,
  results: Results,
  sql: Sql,
  counters: Counters,
  occupancy: Occupancy,
  transactions: Transactions,
  events: Events,
  values: Values,
};

/** Of panels that are there for this trace. */
export function panelsOf(trace: TraceInfo, place: PanelInfo['place']): readonly (PanelInfo & { readonly component: ComponentType; readonly id: PanelId })[] {
  return PANELS.flatMap((panel) => {
    if (panel.place !== place || panel.id === 'overview' || panel.id === 'pipeline') return [];
    return isForTrace(panel.id, trace) ? [{ ...panel, component: COMPONENTS[panel.id] }] : [];
  });
}
