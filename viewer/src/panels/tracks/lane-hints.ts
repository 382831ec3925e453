/** Why a track has nothing to see. */
import type { WindowAnswer } from '../../model/window.js';
import { feedProblem, isFeedLate } from '../../page/questions/window-feed.js';
import { state } from '../../page/store.js';
import { noWindowHint } from '../../tracks/window-lanes.js';

export function hintFor(found: WindowAnswer | null): string | null {
  if (feedProblem.value) return `${feedProblem.value.code}: ${feedProblem.value.what}`;
  const shown = state.value;
  if (isFeedLate.value && shown && !shown.isCounted)
    return `reading the trace: ${Math.floor(shown.progress * 100)} %`;
  return noWindowHint(found);
}
