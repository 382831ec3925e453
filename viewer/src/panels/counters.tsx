/** Counters over time, as rate or total. */
import { rateOver } from '../model/counter-series.js';
import { lineOf } from '../model/palette.js';
import { grouped } from '../model/ticks.js';
import { type CounterColumns, columnOf } from '../model/window.js';
import { info } from '../page/store.js';
import { choices, choose, shown } from '../page/track-choices.js';
import { answer } from '../page/window-feed.js';
import { drawCounters } from '../tracks/counter-plot.js';
import { type Lane, Lanes } from './lanes.js';
import { hintFor, shortName } from './lane-names.js';
import { TrackHead } from './track-head.js';

const NAME_HEIGHT = 18;

export function Counters() {
  const asTotal = choices.value.showsTotals === true;
  const found = answer.value;
  const names = info.value?.storageNames ?? [];
  const counters = shown.counters.value.map((name) => ({
    name,
    columns: found?.counters.find(({ id }) => names[id] === name) ?? null,
  }));
  const lanes = counters.map(({ name, columns }, index): Lane => {
    return {
      key: name,
      name: shortName(name),
      title: name,
      height: NAME_HEIGHT,
      colour: (theme) => lineOf(theme, index),
      valueAt: (cycle) => (columns ? valueText(columns, cycle, asTotal) : ''),
    };
  });
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
        lanes={lanes}
        version={`${asTotal}`}
        hint={counters.length === 0 ? 'choose counters in the list above' : hintFor(found)}
        draw={(canvas) => {
          const plotted = counters.flatMap(({ columns }, index) =>
            columns ? [{ columns, colour: lineOf(canvas.theme, index) }] : [],
          );
          drawCounters(canvas, plotted, asTotal);
        }}
      />
    </>
  );
}

const rateText = (value: number): string =>
  value === 0 ? '0' : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

function valueText(columns: CounterColumns, cycle: number, asTotal: boolean): string {
  const column = columnOf(columns, cycle);
  if (column < 0) return '';
  return asTotal ? grouped(columns.totals[column]!) : rateText(rateOver(columns, column, column + 1));
}
