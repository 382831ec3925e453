/** The component of each panel of `model/panels.ts`. Overview and pipeline are drawn by the drawing worker and belong to the page itself. */
import type { ComponentType } from 'preact';
import type { TraceInfo } from '../data/protocol.js';
import { type PanelId, type PanelInfo, PANELS } from '../model/panels.js';
import { Inspector } from './inspector.js';

export interface PanelPart {
  readonly component: ComponentType;
  /** Whether this trace has something for it; by default every one has. */
  readonly isThere?: (info: TraceInfo) => boolean;
}

const PARTS: Readonly<Record<Exclude<PanelId, 'overview' | 'pipeline'>, PanelPart>> = {
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
