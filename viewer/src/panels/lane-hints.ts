/** Why a track has nothing to see. */
import type { WindowAnswer } from '../model/window.js';
import { feedProblem } from '../page/window-feed.js';
import { noWindowHint } from '../tracks/window-lanes.js';

export function hintFor(found: WindowAnswer | null): string | null {
  if (feedProblem.value) return `${feedProblem.value.code}: ${feedProblem.value.what}`;
  return noWindowHint(found);
}
