/** Everything a key or the palette can do, in one table: bindings, help and the guide are made from it. */
import type { Command } from '../model/commands.js';
import { PANELS, type PanelId } from '../model/panels.js';

/** What the page does itself. */
type PageAction =
  | 'palette'
  | 'search'
  | 'searchNext'
  | 'searchPrevious'
  | 'nearest'
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
  | 'setBookmark'
  | PlaceAction
  | ExportAction;

/** With cursors, the range and bookmarks. */
export type PlaceAction =
  | 'addCursor'
  | 'nextCursor'
  | 'previousCursor'
  | 'cursorLeft'
  | 'cursorRight'
  | 'cursorFarLeft'
  | 'cursorFarRight'
  | 'removeCursor'
  | 'removeCursors'
  | 'rangeOfCursors'
  | 'rangeOnScreen'
  | 'clearRange'
  | 'zoomToRange'
  | 'newBookmark'
  | 'undo'
  | 'redo';

/** Takes what is seen out of the page. */
export type ExportAction = 'copyText' | 'copyPng' | 'savePng' | 'saveSvg';

export const GROUPS = [
  'Moving',
  'Zooming',
  'Selecting',
  'Showing',
  'Panels',
  'Finding',
  'Cursors and ranges',
  'Export',
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
  /** Of `nearest`: what it goes to. */
  readonly nearest?: { readonly what: 'flush' | 'stall' | 'gap'; readonly direction: 1 | -1 };
  /** Of bookmarks: their number. */
  readonly digit?: number;
  /** Of panels: which. */
  readonly panel?: PanelId;
}

export const ROWS_PER_STEP = 3;
const ROWS_PER_PAGE = 30;
const CYCLES_PER_STEP = 6;
const ZOOM_STEP = Math.SQRT2;
/** Cycles that a cursor moves with Shift. */
export const CURSOR_STEP = 10;
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
  { id: 'follow', title: 'follow a run that continues', keys: ['l'], command: { do: 'follow' } },
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

const incident = (
  id: string,
  title: string,
  what: 'flush' | 'stall' | 'gap',
  key: string,
): Omit<Action, 'group'>[] => [
  {
    id: `next-${id}`,
    title: `the next ${title}`,
    keys: [key],
    page: 'nearest',
    nearest: { what, direction: 1 },
  },
  {
    id: `previous-${id}`,
    title: `the ${title} before`,
    keys: [`Shift+${key.toUpperCase()}`],
    page: 'nearest',
    nearest: { what, direction: -1 },
  },
];

/** The palette asks for N. */
const INCIDENTS: readonly Omit<Action, 'group'>[] = [
  ...incident('flush', 'flush', 'flush', 'x'),
  ...incident('stall', 'stall longer than N cycles', 'stall', 'e'),
  ...incident('gap', 'gap in retirement longer than N cycles', 'gap', 'h'),
];

const FINDING: readonly Omit<Action, 'group'>[] = [
  {
    id: 'search',
    title: 'find instructions and events: text, pc:, seq:, retired:, stall:, flush:, event:',
    keys: ['Control+f', '/'],
    page: 'search',
  },
  {
    id: 'search-next',
    title: 'the next match',
    keys: ['F3'],
    page: 'searchNext',
  },
  {
    id: 'search-previous',
    title: 'the match before',
    keys: ['Shift+F3'],
    page: 'searchPrevious',
  },
  ...INCIDENTS,
  {
    id: 'palette',
    title: 'all commands, and where to go',
    keys: ['F1', 'Control+Shift+P', ':', 'Shift+:'],
    page: 'palette',
  },
  { id: 'help', title: 'the keys', keys: ['?', 'Shift+?'], page: 'help' },
];

const PLACES: readonly Omit<Action, 'group'>[] = [
  {
    id: 'add-cursor',
    title: 'add a cursor at the pointer, or in the middle',
    keys: ['m'],
    page: 'addCursor',
  },
  { id: 'next-cursor', title: 'the next cursor', keys: [']'], page: 'nextCursor' },
  { id: 'previous-cursor', title: 'the cursor before', keys: ['['], page: 'previousCursor' },
  { id: 'cursor-right', title: 'move the chosen cursor a cycle right', keys: ['.'], page: 'cursorRight' },
  { id: 'cursor-left', title: 'move the chosen cursor a cycle left', keys: [','], page: 'cursorLeft' },
  {
    id: 'cursor-far-right',
    title: `move the chosen cursor ${CURSOR_STEP} cycles right`,
    keys: ['>', 'Shift+>'],
    page: 'cursorFarRight',
  },
  {
    id: 'cursor-far-left',
    title: `move the chosen cursor ${CURSOR_STEP} cycles left`,
    keys: ['<', 'Shift+<'],
    page: 'cursorFarLeft',
  },
  { id: 'remove-cursor', title: 'remove the chosen cursor', keys: ['Delete'], page: 'removeCursor' },
  { id: 'remove-cursors', title: 'remove all cursors', keys: [], page: 'removeCursors' },
  {
    id: 'range-of-cursors',
    title: 'range from the chosen cursor to the one before; without a choice between the outer ones',
    keys: ['Shift+M'],
    page: 'rangeOfCursors',
  },
  { id: 'range-on-screen', title: 'range of what is on the screen', keys: [], page: 'rangeOnScreen' },
  { id: 'zoom-to-range', title: 'show all of the range', keys: ['Shift+Z'], page: 'zoomToRange' },
  { id: 'clear-range', title: 'no range', keys: ['Shift+Delete'], page: 'clearRange' },
  {
    id: 'undo',
    title: 'undo the last change of cursors, range and bookmarks',
    keys: ['Control+z', 'Meta+z'],
    page: 'undo',
  },
  {
    id: 'redo',
    title: 'change it again',
    keys: ['Control+Shift+Z', 'Control+y', 'Meta+Shift+Z'],
    page: 'redo',
  },
  { id: 'new-bookmark', title: 'bookmark this view with a name', keys: ['b b'], page: 'newBookmark' },
];

const EXPORTS: readonly Omit<Action, 'group'>[] = [
  { id: 'copy-link', title: 'copy a link to this view', keys: ['y'], page: 'copyLink' },
  {
    id: 'copy-text',
    title: 'copy the rows as text, of the range or of what is on the screen',
    keys: ['Shift+Y', 'Control+c'],
    page: 'copyText',
  },
  { id: 'copy-png', title: 'copy the picture', keys: [], page: 'copyPng' },
  { id: 'save-png', title: 'save the picture as PNG', keys: [], page: 'savePng' },
  { id: 'save-svg', title: 'save the picture as SVG', keys: [], page: 'saveSvg' },
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
  ...inGroup('Cursors and ranges', PLACES),
  ...inGroup('Export', EXPORTS),
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
  { input: 'drag the flag of a cursor', title: 'move it' },
  { input: 'Shift + drag on the axis', title: 'a range of cycles; Shift + click: none' },
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
