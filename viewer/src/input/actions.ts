/** Everything a key or the palette can do, in one table: bindings, help and the guide are made from it. */
import type { Command } from '../model/commands.js';
import { PANELS, type PanelId } from '../model/panels.js';

/** What the page does itself. */
export type PageAction =
  | 'palette'
  | 'search'
  | 'help'
  | 'theme'
  | 'colour'
  | 'fills'
  | 'form'
  | 'squashed'
  | 'sort'
  | 'arrows'
  | 'panel'
  | 'dock'
  | 'resetLayout'
  | 'copyLink'
  | 'escape'
  | 'goBookmark'
  | 'setBookmark';

export const GROUPS = [
  'Moving',
  'Zooming',
  'Selecting',
  'Showing',
  'Panels',
  'Finding',
  'Bookmarks',
] as const;

export interface Action {
  readonly id: string;
  readonly group: (typeof GROUPS)[number];
  readonly title: string;
  /** As tinykeys writes them. The first is the one shown in the palette. */
  readonly keys: readonly string[];
  readonly command?: Command;
  readonly page?: PageAction;
  /** Of bookmarks: their number. */
  readonly digit?: number;
  /** Of panels: which. */
  readonly panel?: PanelId;
}

export const ROWS_PER_STEP = 3;
export const ROWS_PER_PAGE = 30;
export const CYCLES_PER_STEP = 6;
export const ZOOM_STEP = Math.SQRT2;
/** Part of the width that one key moves. */
const PAN_PART = 0.25;

const rows = (count: number, follow = true): Command => ({ do: 'rows', count, follow });
const zoom = (factor: number, axis: 'both' | 'time' = 'both'): Command => ({
  do: 'zoom',
  factor,
  at: null,
  axis,
});

const MOVING: readonly Omit<Action, 'group'>[] = [
  {
    id: 'down',
    title: '3 rows down, following the pipeline',
    keys: ['ArrowDown'],
    command: rows(ROWS_PER_STEP),
  },
  { id: 'up', title: '3 rows up, following the pipeline', keys: ['ArrowUp'], command: rows(-ROWS_PER_STEP) },
  {
    id: 'down-straight',
    title: '3 rows down, not sideways',
    keys: ['Shift+ArrowDown'],
    command: rows(ROWS_PER_STEP, false),
  },
  {
    id: 'up-straight',
    title: '3 rows up, not sideways',
    keys: ['Shift+ArrowUp'],
    command: rows(-ROWS_PER_STEP, false),
  },
  {
    id: 'page-down',
    title: '30 rows down, following the pipeline',
    keys: ['PageDown'],
    command: rows(ROWS_PER_PAGE),
  },
  {
    id: 'page-up',
    title: '30 rows up, following the pipeline',
    keys: ['PageUp'],
    command: rows(-ROWS_PER_PAGE),
  },
  {
    id: 'page-down-straight',
    title: '30 rows down, not sideways',
    keys: ['Shift+PageDown'],
    command: rows(ROWS_PER_PAGE, false),
  },
  {
    id: 'page-up-straight',
    title: '30 rows up, not sideways',
    keys: ['Shift+PageUp'],
    command: rows(-ROWS_PER_PAGE, false),
  },
  {
    id: 'left',
    title: '6 cycles left',
    keys: ['ArrowLeft'],
    command: { do: 'cycles', count: -CYCLES_PER_STEP },
  },
  {
    id: 'right',
    title: '6 cycles right',
    keys: ['ArrowRight'],
    command: { do: 'cycles', count: CYCLES_PER_STEP },
  },
  {
    id: 'pan-left',
    title: 'a quarter of the width left',
    keys: ['a'],
    command: { do: 'widths', count: -PAN_PART },
  },
  {
    id: 'pan-right',
    title: 'a quarter of the width right',
    keys: ['d'],
    command: { do: 'widths', count: PAN_PART },
  },
  { id: 'first', title: 'to the first instruction', keys: ['Home'], command: { do: 'first' } },
  { id: 'last', title: 'to the last instruction', keys: ['End'], command: { do: 'last' } },
  { id: 'return', title: 'rows to where the time shown is', keys: ['g'], command: { do: 'return' } },
];

const ZOOMING: readonly Omit<Action, 'group'>[] = [
  {
    id: 'zoom-in',
    title: 'zoom in',
    keys: ['+', '=', 'Shift++', 'Control+ArrowUp', 'w'],
    command: zoom(ZOOM_STEP),
  },
  { id: 'zoom-out', title: 'zoom out', keys: ['-', 'Control+ArrowDown', 's'], command: zoom(1 / ZOOM_STEP) },
  {
    id: 'zoom-in-time',
    title: 'widen the cycles, rows stay',
    keys: ['Alt+ArrowUp'],
    command: zoom(ZOOM_STEP, 'time'),
  },
  {
    id: 'zoom-out-time',
    title: 'narrow the cycles, rows stay',
    keys: ['Alt+ArrowDown'],
    command: zoom(1 / ZOOM_STEP, 'time'),
  },
  { id: 'zoom-default', title: 'the zoom of the beginning', keys: ['z'], command: { do: 'zoomDefault' } },
  { id: 'fit', title: 'the whole run', keys: ['f'], command: { do: 'fit' } },
];

const SELECTING: readonly Omit<Action, 'group'>[] = [
  { id: 'next', title: 'select the next instruction', keys: ['j'], command: { do: 'selectNext', count: 1 } },
  {
    id: 'previous',
    title: 'select the previous instruction',
    keys: ['k'],
    command: { do: 'selectNext', count: -1 },
  },
  { id: 'producer', title: 'select the instruction it waited for', keys: ['p'], command: { do: 'producer' } },
  {
    id: 'consumer',
    title: 'select the next one that waited for it',
    keys: ['n'],
    command: { do: 'consumer' },
  },
  { id: 'escape', title: 'close what is open, else select nothing', keys: ['Escape'], page: 'escape' },
];

const SHOWING: readonly Omit<Action, 'group'>[] = [
  { id: 'colour', title: 'colour by stage, class, thread, stall', keys: ['c'], page: 'colour' },
  {
    id: 'form',
    title: 'form: by zoom, rows, folded rows, cycles since fetch, sums over time',
    keys: ['v'],
    page: 'form',
  },
  {
    id: 'squashed',
    title: 'squashed instructions: dim, as others, blank, without rows',
    keys: ['q'],
    page: 'squashed',
  },
  {
    id: 'sort',
    title: 'order of rows by cycles since fetch: fetch, latency, pc, class',
    keys: ['o'],
    page: 'sort',
  },
  { id: 'arrows', title: 'dependencies: of the selected, all, none', keys: ['r'], page: 'arrows' },
  { id: 'theme', title: 'light or dark', keys: ['t'], page: 'theme' },
  { id: 'copy-link', title: 'copy a link to this view', keys: ['y'], page: 'copyLink' },
];

const PANEL_ACTIONS: readonly Omit<Action, 'group'>[] = [
  ...PANELS.map(({ id, title, keys }) => ({
    id: `panel-${id}`,
    title: `show or hide: ${title.toLowerCase()}`,
    keys,
    page: 'panel' as const,
    panel: id,
  })),
  { id: 'dock', title: 'show or hide the side panel', keys: ['Shift+D'], page: 'dock' },
  { id: 'reset-layout', title: 'panels as at first', keys: [], page: 'resetLayout' },
];

const FINDING: readonly Omit<Action, 'group'>[] = [
  {
    id: 'search',
    title: 'find a regular expression in addresses, disassembly and annotations',
    keys: ['Control+f', '/'],
    page: 'search',
  },
  {
    id: 'search-next',
    title: 'the next match',
    keys: ['F3'],
    command: { do: 'searchNext', direction: 1 },
  },
  {
    id: 'search-previous',
    title: 'the match before',
    keys: ['Shift+F3'],
    command: { do: 'searchNext', direction: -1 },
  },
  {
    id: 'palette',
    title: 'all commands, and where to go',
    keys: ['F1', 'Control+Shift+P', ':', 'Shift+:'],
    page: 'palette',
  },
  { id: 'help', title: 'the keys', keys: ['?', 'Shift+?'], page: 'help' },
];

const BOOKMARKS: readonly Omit<Action, 'group'>[] = Array.from({ length: 10 }, (_, digit) => [
  {
    id: `bookmark-${digit}`,
    title: `go to bookmark ${digit}`,
    keys: [`${digit}`],
    page: 'goBookmark' as const,
    digit,
  },
  {
    id: `set-bookmark-${digit}`,
    title: `set bookmark ${digit}`,
    keys: [`b ${digit}`, `Control+${digit}`],
    page: 'setBookmark' as const,
    digit,
  },
]).flat();

const inGroup = (group: Action['group'], actions: readonly Omit<Action, 'group'>[]): Action[] =>
  actions.map((action) => ({ ...action, group }));

export const ACTIONS: readonly Action[] = [
  ...inGroup('Moving', MOVING),
  ...inGroup('Zooming', ZOOMING),
  ...inGroup('Selecting', SELECTING),
  ...inGroup('Showing', SHOWING),
  ...inGroup('Panels', PANEL_ACTIONS),
  ...inGroup('Finding', FINDING),
  ...inGroup('Bookmarks', BOOKMARKS),
];

/** What the mouse does; it cannot be changed. */
export const POINTER_ACTIONS: readonly { readonly input: string; readonly title: string }[] = [
  { input: 'wheel', title: '3 rows, following the pipeline; with Shift not sideways' },
  { input: 'Ctrl + wheel, pinch', title: 'zoom about the pointer; with Alt only the cycles' },
  { input: 'drag', title: 'move the picture' },
  { input: 'double click', title: 'zoom in; with Shift zoom out' },
  { input: 'click on a row', title: 'select the instruction' },
  { input: 'click on a label', title: 'select it, and move its fetch to the left edge' },
  { input: 'click or drag on the overview', title: 'go there' },
];

/** Keys for people: `Ctrl+Shift+P`. */
export function shownKey(key: string): string {
  const names: Readonly<Record<string, string>> = {
    Control: 'Ctrl',
    ArrowUp: '↑',
    ArrowDown: '↓',
    ArrowLeft: '←',
    ArrowRight: '→',
    PageUp: 'PgUp',
    PageDown: 'PgDn',
    Escape: 'Esc',
  };
  const press = (one: string): string =>
    one
      .split(/\b\+/)
      .map((part) => names[part] ?? part)
      .join('+')
      // The character says that Shift is held.
      .replace(/^Shift\+([^\w↑↓←→])$/, '$1');
  return key.split(' ').map(press).join(' ');
}

/** Keys of an action for people, each once. */
export const shownKeys = (keys: readonly string[]): string[] => [...new Set(keys.map(shownKey))];
