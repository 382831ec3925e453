/** The layout of the page in a link: `dock.300.statistics,events.off,counters.120`. Only what differs from the table of panels. */
import type { LinkPart } from './link.js';
import { DEFAULT_LAYOUT, type Layout, PANELS, parseLayout } from './panels.js';

const MAX_ENTRIES = 64;

export const layoutPart: LinkPart<Layout> = {
  key: 'panels',
  format: (layout) => {
    const entries = [...dockEntry(layout), ...PANELS.flatMap(({ id }) => panelEntry(layout, id))];
    return entries.length === 0 ? [] : [entries.join(',')];
  },
  parse: ([text]) => {
    const shown: Record<string, boolean> = {};
    const sizes: Record<string, number> = {};
    let dock: object = {};
    for (const entry of text!.split(',', MAX_ENTRIES)) {
      const [id = '', ...words] = entry.split('.', 4);
      if (id === 'dock') dock = dockOf(words);
      else
        for (const word of words) {
          if (word === 'on' || word === 'off') shown[id] = word === 'on';
          else if (/^\d{1,5}$/.test(word)) sizes[id] = Number(word);
        }
    }
    return parseLayout(JSON.stringify({ shown, sizes, ...dock }));
  },
};

function dockEntry({ isDockOpen, dockWidth, tab }: Layout): string[] {
  if (!isDockOpen) return ['dock.off'];
  const words = [
    dockWidth === DEFAULT_LAYOUT.dockWidth ? '' : `.${Math.round(dockWidth)}`,
    tab === DEFAULT_LAYOUT.tab ? '' : `.${tab}`,
  ].join('');
  return words === '' ? [] : [`dock${words}`];
}

function dockOf(words: readonly string[]): object {
  const tab = words.find((word) => /^[a-z]/.test(word));
  if (tab === 'off') return { isDockOpen: false };
  const width = words.find((word) => /^\d{1,5}$/.test(word));
  return { ...(tab ? { tab } : {}), ...(width ? { dockWidth: Number(width) } : {}) };
}

function panelEntry({ shown, sizes }: Layout, id: (typeof PANELS)[number]['id']): string[] {
  const isShown = shown[id];
  const size = sizes[id];
  const words = `${isShown === undefined ? '' : isShown ? '.on' : '.off'}${size === undefined ? '' : `.${Math.round(size)}`}`;
  return words === '' ? [] : [id + words];
}
