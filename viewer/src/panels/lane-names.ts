/** What tracks say: names without what is known anyway, and why there is nothing to see. */
import type { WindowAnswer } from '../model/window.js';
import { described } from '../page/track-choices.js';
import { feedProblem } from '../page/window-feed.js';

/** Paths without the core that the page shows: its name is in the title bar. */
export function shortName(name: string): string {
  const core = described.value?.core ?? null;
  return core !== null && name.startsWith(`${core}/`) ? name.slice(core.length + 1) : name;
}

export function hintFor(found: WindowAnswer | null): string | null {
  if (feedProblem.value) return `${feedProblem.value.code}: ${feedProblem.value.what}`;
  if (found?.source === 'none')
    return 'zoom in: the trace has no index for so long a time; `uscope index FILE` makes one';
  return null;
}
