/** The parts of the page around the picture, in one table. A new one is an entry here and a component in `panels/registry.tsx`. */

export interface PanelInfo {
  readonly id: string;
  /** Of its track or tab. */
  readonly title: string;
  /** A track shares the axis of time, in the column; a tab is in the dock at the right. */
  readonly place: 'track' | 'tab';
  /** Of the action that shows and hides it. */
  readonly keys: readonly string[];
  readonly isShown: boolean;
  /** The same of a trace without cores, where there is no pipeline that needs the room; by default it is shown. */
  readonly isShownWithoutCore?: boolean;
  /** Height of a track in CSS pixels; 0: it takes what the others leave. */
  readonly size: number;
}

/** In the order in which they are on the page. */
export const PANELS = [
  { id: 'overview', title: 'Overview', place: 'track', keys: ['Shift+O'], isShown: true, size: 46 },
  { id: 'pipeline', title: 'Pipeline', place: 'track', keys: ['Shift+P'], isShown: true, size: 0 },
  { id: 'counters', title: 'Counters', place: 'track', keys: ['Shift+C'], isShown: true, size: 96 },
  { id: 'occupancy', title: 'Occupancy', place: 'track', keys: ['Shift+B'], isShown: true, size: 84 },
  {
    id: 'transactions',
    title: 'Transactions',
    place: 'track',
    keys: ['Shift+T'],
    isShown: true,
    size: 160,
  },
  { id: 'events', title: 'Events', place: 'track', keys: ['Shift+N'], isShown: false, size: 120 },
  { id: 'values', title: 'Values', place: 'track', keys: ['Shift+V'], isShown: false, size: 120 },
  { id: 'inspector', title: 'Inspector', place: 'tab', keys: ['i'], isShown: true, size: 0 },
  { id: 'places', title: 'Places', place: 'tab', keys: ['Shift+L'], isShown: true, size: 0 },
  { id: 'statistics', title: 'Statistics', place: 'tab', keys: ['Shift+S'], isShown: true, size: 0 },
  { id: 'profile', title: 'Profile', place: 'tab', keys: ['Shift+U'], isShown: true, size: 0 },
  { id: 'results', title: 'Found', place: 'tab', keys: ['Shift+R'], isShown: true, size: 0 },
  { id: 'sql', title: 'SQL', place: 'tab', keys: ['Shift+Q'], isShown: true, size: 0 },
] as const satisfies readonly PanelInfo[];

export type PanelId = (typeof PANELS)[number]['id'];

export const MIN_TRACK = 40;
export const MIN_DOCK = 220;

export const panelOf = (id: PanelId): PanelInfo => PANELS.find((one) => one.id === id)!;

/** The table's heights are for windows up to this height; higher ones get more. */
const USUAL_HEIGHT = 1080;
const MOST_OF_USUAL = 2.5;

/** Height of a track until the user changes it, in a window of this height; CSS pixels. */
export const usualSize = (id: PanelId, windowHeight: number): number =>
  Math.round(panelOf(id).size * Math.max(1, Math.min(MOST_OF_USUAL, windowHeight / USUAL_HEIGHT)));

/** What the user made of the page: only what differs from the table. */
export interface Layout {
  readonly shown: Readonly<Partial<Record<PanelId, boolean>>>;
  /** Heights of tracks. */
  readonly sizes: Readonly<Partial<Record<PanelId, number>>>;
  readonly isDockOpen: boolean;
  readonly dockWidth: number;
  readonly tab: PanelId;
}

export const DEFAULT_LAYOUT: Layout = {
  shown: {},
  sizes: {},
  isDockOpen: true,
  dockWidth: 340,
  tab: 'inspector',
};

const MAX_SIZE = 4000;

/** What is stored or linked to; nothing that is wrong in it is used. */
export function parseLayout(text: string | null): Layout {
  let value: unknown = null;
  try {
    value = JSON.parse(text ?? '{}');
  } catch {
    return DEFAULT_LAYOUT;
  }
  if (typeof value !== 'object' || value === null) return DEFAULT_LAYOUT;
  const { shown, sizes, isDockOpen, dockWidth, tab } = value as Record<string, unknown>;
  const isSize = (one: unknown): one is number =>
    typeof one === 'number' && one >= MIN_TRACK && one <= MAX_SIZE;
  return {
    shown: known(shown, (one): one is boolean => typeof one === 'boolean'),
    sizes: known(sizes, isSize),
    isDockOpen: typeof isDockOpen === 'boolean' ? isDockOpen : DEFAULT_LAYOUT.isDockOpen,
    dockWidth: isSize(dockWidth) ? Math.max(MIN_DOCK, dockWidth) : DEFAULT_LAYOUT.dockWidth,
    tab: PANELS.find(({ id, place }) => id === tab && place === 'tab')?.id ?? DEFAULT_LAYOUT.tab,
  };
}

function known<T>(value: unknown, isValid: (one: unknown) => one is T): Partial<Record<PanelId, T>> {
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).filter(
    ([id, one]) => PANELS.some((panel) => panel.id === id) && isValid(one),
  );
  return Object.fromEntries(entries) as Partial<Record<PanelId, T>>;
}

export const isPanelShown = (layout: Layout, id: PanelId, hasCore = true): boolean => {
  const panel = panelOf(id);
  if (panel.place === 'tab') return layout.isDockOpen && layout.tab === id;
  return layout.shown[id] ?? (hasCore ? panel.isShown : (panel.isShownWithoutCore ?? true));
};

/** A track is shown or hidden; a tab comes to the front, or the dock is closed if it was there. */
export function togglePanel(layout: Layout, id: PanelId, hasCore = true): Layout {
  const isShown = isPanelShown(layout, id, hasCore);
  if (panelOf(id).place === 'tab') return { ...layout, isDockOpen: !isShown, tab: id };
  return { ...layout, shown: { ...layout.shown, [id]: !isShown } };
}
