/** Counters over time, as rate or total. */
import { choices, choose, described, shown } from '../../page/questions/track-choices.js';
import { answer } from '../../page/questions/window-feed.js';
import { drawCounters } from '../../tracks/counter-plot.js';
import { counterCurves, counterLanes } from '../../tracks/window-lanes.js';
import { hintFor } from './lane-hints.js';
import { Lanes } from './lanes.js';
import { TrackHead } from './track-head.js';

export function Counters() {
  const asTotal = choices.value.showsTotals === true;
  const found = answer.value;
  const names = shown.counters.value;
  const trace = described.value;
  const window = trace && { trace, found };
  return (
    <>
      <TrackHead id="counters" list="counters">
        <button
          type="button"
          class="track-tool"
          aria-pressed={asTotal}
          title="growth per cycle, or value"
          onClick={() => choose({ showsTotals: !asTotal })}
        >
          {asTotal ? 'total' : 'per cycle'}
        </button>
      </TrackHead>
      <Lanes
        title="Counters"
        lanes={window ? counterLanes(names, window, asTotal) : []}
        version={`${asTotal}`}
        hint={names.length === 0 ? 'choose counters in the list above' : hintFor(found)}
        draw={(canvas) => window && drawCounters(canvas, counterCurves(names, window, canvas.theme), asTotal)}
      />
    </>
  );
}
