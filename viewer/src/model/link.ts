/** The view as the part of a URL behind `#`, and back. */
import { MAX_SCALE, type View } from './view.js';

export interface Linked {
  readonly view: View | null;
  readonly selected: number | null;
  /** A cycle to go to, where there is no view. */
  readonly at: number | null;
  readonly core: string | null;
  /** Settings that differ from the default, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Number of a bookmark -> view. */
  readonly bookmarks: Readonly<Record<string, View>>;
}

/** All digits: the same view must give the same pixels. */
const viewText = ({ x, y, scale, aspect }: View): string => [x, y, scale, aspect].join(',');

function parseView(text: string | null): View | null {
  const parts = (text ?? '').split(',').map(Number);
  if (parts.length !== 4 || !parts.every(Number.isFinite)) return null;
  const [x, y, scale, aspect] = parts as [number, number, number, number];
  return scale > 0 && scale <= MAX_SCALE && aspect > 0 && aspect <= 1e6 ? { x, y, scale, aspect } : null;
}

function parseNumber(text: string | null): number | null {
  const value = text === null || text === '' ? Number.NaN : Number(text.replaceAll(',', ''));
  return Number.isFinite(value) && value >= 0 ? value : null;
}

export function formatLink({ view, selected, core, settings, bookmarks }: Linked): string {
  const parameters = new URLSearchParams();
  if (core !== null) parameters.set('core', core);
  if (view) parameters.set('view', viewText(view));
  if (selected !== null) parameters.set('row', String(selected));
  for (const [name, value] of Object.entries(settings)) parameters.set(name, value);
  for (const [digit, one] of Object.entries(bookmarks)) parameters.set(`b${digit}`, viewText(one));
  return parameters.toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
}

export function parseLink(hash: string): Linked {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const bookmarks: Record<string, View> = {};
  const settings: Record<string, string> = {};
  for (const [name, value] of parameters) {
    const view = /^b\d$/.test(name) ? parseView(value) : null;
    if (view) bookmarks[name.slice(1)] = view;
    else if (/^[a-z]+$/.test(name) && !['view', 'row', 'at', 'core'].includes(name)) settings[name] = value;
  }
  return {
    view: parseView(parameters.get('view')),
    selected: parseNumber(parameters.get('row')),
    at: parseNumber(parameters.get('at')),
    core: parameters.get('core'),
    settings,
    bookmarks,
  };
}
