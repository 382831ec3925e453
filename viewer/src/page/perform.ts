/** Carries out actions. */
import type { Action } from '../input/actions.js';
import { exportView } from './export.js';
import { changeLayout, layout, resetLayout, toggle } from './layout.js';
import { goBookmark, PLACE_ACTIONS, setBookmark } from './places/place-actions.js';
import { goToNearest, stopNearest } from './questions/nearest.js';
import { clearSearch, stepSearch, stopSearch } from './questions/search.js';
import { cycle, panel, tell } from './store.js';
import { currentEngine } from './threads/current-engine.js';

export { currentEngine };

export function perform(action: Action): void {
  if (action.command) currentEngine()?.run(action.command);
  else if (action.page) performOnPage(action);
}

function performOnPage({ page, digit = 0, panel: id, nearest }: Action): void {
  switch (page) {
    case 'search':
      panel.value = 'search';
      return;
    case 'searchNext':
    case 'searchPrevious':
      stepSearch(page === 'searchNext' ? 1 : -1);
      return;
    case 'nearest':
      void goToNearest(nearest!.what, nearest!.direction);
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
      // First what runs, then what is open.
      if (stopSearch() || stopNearest()) return;
      if (panel.value === 'search') clearSearch();
      if (panel.value !== 'none') panel.value = 'none';
      else currentEngine()?.run({ do: 'select', row: null });
      return;
    case 'copyText':
    case 'copyPng':
    case 'savePng':
    case 'saveSvg':
      void exportView(page);
      return;
    case 'setBookmark':
      setBookmark(String(digit));
      return;
    case 'goBookmark':
      goBookmark(String(digit));
      return;
    case undefined:
      return;
    default:
      PLACE_ACTIONS[page]();
  }
}
