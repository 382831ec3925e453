/** Carries out actions. */
import type { Action } from '../input/actions.js';
import { currentEngine } from './current-engine.js';
import { changeLayout, layout, resetLayout, toggle } from './layout.js';
import { goBookmark, setBookmark } from './place-actions.js';
import { cycle, origin, panel, tell } from './store.js';

export { currentEngine };

export function perform(action: Action): void {
  if (action.command) currentEngine()?.run(action.command);
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
    case 'fills':
    case 'form':
    case 'squashed':
    case 'sort':
    case 'arrows':
      tell(`${page === 'fills' ? 'colours' : page}: ${cycle(page === 'fills' ? 'palette' : page)}`);
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
      if (panel.value === 'search') currentEngine()?.run({ do: 'search', pattern: null });
      if (panel.value !== 'none') panel.value = 'none';
      else currentEngine()?.run({ do: 'select', row: null });
      return;
    case 'setBookmark':
      setBookmark(String(digit));
      return;
    case 'goBookmark':
      goBookmark(String(digit));
      return;
  }
}

/** What the user typed into the palette, if it names a place. */
export function goTo(text: string): boolean {
  const pattern = /^\s*f\s+(\S.*)$/.exec(text)?.[1];
  if (pattern !== undefined) {
    panel.value = 'search';
    currentEngine()?.run({ do: 'search', pattern });
    return true;
  }
  const engine = currentEngine();
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
