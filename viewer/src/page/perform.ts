/** Carries out actions. */
import type { Action } from '../input/actions.js';
import { formatLink } from '../model/link.js';
import type { Engine } from './engine.js';
import { changeLayout, layout, resetLayout, toggle } from './layout.js';
import { bookmarks, core, cycle, info, origin, panel, settings, state, tell } from './store.js';

let engine: Engine | null = null;
export function useEngine(next: Engine | null): void {
  engine = next;
}
export const currentEngine = (): Engine | null => engine;

export function perform(action: Action): void {
  if (action.command) engine?.run(action.command);
  else if (action.page) performOnPage(action);
}

function performOnPage({ page, digit = 0, panel: id }: Action): void {
  switch (page) {
    case 'search':
      panel.value = 'search';
      return;
    case 'palette':
      panel.value = panel.value === 'palette' ? 'none' : 'palette';
      return;
    case 'help':
      panel.value = panel.value === 'help' ? 'none' : 'help';
      return;
    case 'theme':
    case 'colour':
    case 'form':
    case 'squashed':
    case 'arrows':
      tell(`${page}: ${cycle(page)}`);
      return;
    case 'panel':
      toggle(id!);
      return;
    case 'dock':
      changeLayout({ isDockOpen: !layout.value.isDockOpen });
      return;
    case 'resetLayout':
      resetLayout();
      return;
    case 'copyLink':
      navigator.clipboard?.writeText(location.href).then(
        () => tell('link copied'),
        () => tell('the link is in the address bar'),
      );
      return;
    case 'escape':
      if (panel.value === 'search') engine?.run({ do: 'search', pattern: null });
      if (panel.value !== 'none') panel.value = 'none';
      else engine?.run({ do: 'select', row: null });
      return;
    case 'setBookmark':
      if (state.value) bookmarks.value = { ...bookmarks.value, [digit]: state.value.view };
      tell(`bookmark ${digit} set`);
      return;
    case 'goBookmark': {
      const view = bookmarks.value[digit];
      if (view) engine?.run({ do: 'view', view, selected: state.value?.selectedRow ?? null });
      else tell(`there is no bookmark ${digit}; set one with b ${digit}`);
      return;
    }
  }
}

/** The address of what is on the screen. */
export function linkNow(): string {
  const { theme, colour, form, squashed, arrows, gutter } = settings.value;
  const hasSeveral = (info.value?.cores.length ?? 0) > 1;
  return formatLink({
    view: state.value?.view ?? null,
    selected: state.value?.selectedRow ?? null,
    at: null,
    core: hasSeveral ? (core.value?.name ?? null) : null,
    settings: { theme, colour, form, squashed, arrows, gutter: String(gutter) },
    bookmarks: bookmarks.value,
  });
}

/** What the user typed into the palette, if it names a place. */
export function goTo(text: string): boolean {
  const pattern = /^\s*f\s+(\S.*)$/.exec(text)?.[1];
  if (pattern !== undefined) {
    panel.value = 'search';
    engine?.run({ do: 'search', pattern });
    return true;
  }
  const match = /^([a-z]*)\s*([\d,_]+)$/i.exec(text.trim());
  if (!match || !engine || !origin.value) return false;
  const value = Number(match[2]!.replace(/[,_]/g, ''));
  switch (match[1]!.toLowerCase()) {
    case '':
    case 'c':
    case 'cycle':
      engine.run({ do: 'goCycle', cycle: value });
      return true;
    case 'j':
    case 'row':
      engine.run({ do: 'goRow', row: value });
      return true;
    default:
      return false;
  }
}
