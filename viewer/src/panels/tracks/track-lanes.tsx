/** Tracks of lanes: occupancy of buffers, events, values of slots. */
import { described, shown } from '../../page/questions/track-choices.js';
import { answer } from '../../page/questions/window-feed.js';
import type { Lane } from '../../tracks/lane.js';
import { eventLanes, type LaneWindow, occupancyLanes, valueLanes, valuesHint } from '../../tracks/window-lanes.js';
import { hintFor } from './lane-hints.js';
import { Lanes } from './lanes.js';
import { TrackHead } from './track-head.js';

/** None where no trace is open. */
function lanesNow(
  of: (names: readonly string[], window: LaneWindow) => Lane[],
  names: readonly string[],
): Lane[] {
  const trace = described.value;
  return trace ? of(names, { trace, found: answer.value }) : [];
}

export function Occupancy() {
  const found = answer.value;
  return (
    <>
      <TrackHead id="occupancy" list="buffers" />
      <Lanes title="Occupancy" lanes={lanesNow(occupancyLanes, shown.buffers.value)} version={found} hint={hintFor(found)} />
    </>
  );
}

export function Events() {
  const found = answer.value;
  return (
    <>
      <TrackHead id="events" list="events" />
      <Lanes title="Events" lanes={lanesNow(eventLanes, shown.events.value)} version={found} hint={hintFor(found)} />
    </>
  );
}

export function Values() {
  const found = answer.value;
  const lanes = lanesNow(valueLanes, shown.values.value);
  const hint =
    found?.source === 'index'
      ? valuesHint(found)
      : lanes.length === 0
        ? 'choose slots and registers in the list above'
        : hintFor(found);
  return (
    <>
      <TrackHead id="values" list="values" />
      <Lanes title="Values" lanes={lanes} version={found} hint={hint} />
    </>
  );
}
