/** Which panels are shown, and how large: remembered in this browser. */
import { signal } from '@preact/signals';
import { layoutPart } from '../model/layout-link.js';
import {
  DEFAULT_LAYOUT,
  isPanelShown,
  type Layout,
  MIN_DOCK,
  MIN_TRACK,
  type PanelId,
  parseLayout,
  togglePanel,
  usualSize,
} from '../model/panels.js';
import { isComplete, opened, registerLink } from './link-state.js';
import { info, remember, remembered } from './store.js';

const LAYOUT_KEY = 'uscope.view.layout';

export const layout = signal<Layout>(
  isComplete(opened) ? DEFAULT_LAYOUT : parseLayout(remembered(LAYOUT_KEY)),
);

/** What a link says is used, but not remembered: the user's own layout is that without a link. */
const linked = registerLink(layoutPart, {
  get: () => layout.value,
  set: (value, content) => {
    if (value !== null || isComplete(content)) layout.value = value ?? DEFAULT_LAYOUT;
  },
});
if (linked) layout.value = linked;

export function changeLayout(part: Partial<Layout>): void {
  layout.value = { ...layout.value, ...part };
  remember(LAYOUT_KEY, layout.value);
}

export const resetLayout = (): void => changeLayout(DEFAULT_LAYOUT);

const hasCore = (): boolean => info.value === null || info.value.core >= 0;

export const isShown = (id: PanelId): boolean => isPanelShown(layout.value, id, hasCore());
export const toggle = (id: PanelId): void => changeLayout(togglePanel(layout.value, id, hasCore()));

/** Brings a panel to the front. */
export function reveal(id: PanelId): void {
  if (!isShown(id)) toggle(id);
}

const windowHeight = signal(innerHeight);
addEventListener('resize', () => {
  windowHeight.value = innerHeight;
});

export const trackSize = (id: PanelId): number => layout.value.sizes[id] ?? usualSize(id, windowHeight.value);

export function resizeTrack(id: PanelId, size: number): void {
  const height = Math.round(Math.max(MIN_TRACK, Math.min(innerHeight, size)));
  changeLayout({ sizes: { ...layout.value.sizes, [id]: height } });
}

export function resizeDock(width: number): void {
  changeLayout({ dockWidth: Math.round(Math.max(MIN_DOCK, Math.min(innerWidth * 0.6, width))) });
}
