/** Where the pointer is, what is selected, how far the trace has been read. */
import { grouped, timeText } from '../model/ticks.js';
import { core, info, state } from '../page/store.js';

export function StatusLine() {
  const shown = state.value;
  const trace = info.value;
  if (!shown || !trace) {
    return <footer class="status">opening the trace…</footer>;
  }
  const period = core.value?.periodPs ?? 0;
  const { hover, rows, isCounted, progress, selectedRow, view } = shown;
  return (
    <footer class="status">
      <span class="wide">
        {hover ? `cycle ${grouped(hover.cycle)}${period > 0 ? `   ${timeText(hover.cycle * period, period)}` : ''}` : ''}
      </span>
      <span>{hover?.details ? `row ${grouped(hover.details.row)}  ${hover.details.text}` : ''}</span>
      <span class="fill" />
      {selectedRow !== null && <span>selected {grouped(selectedRow)}</span>}
      {!trace.isComplete && <span>being written: reload to see more</span>}
      {!isCounted && (
        <span class="progress" title="reading the whole trace once, for the overview">
          reading <progress value={progress} max={1} aria-label="part of the trace read" />
        </span>
      )}
      <span>
        {isCounted ? '' : '≈ '}
        {grouped(rows)} instructions, {grouped(trace.segmentCycles.at(-1)! - trace.segmentCycles[0]!)} cycles
      </span>
      <span title="pixels per cycle">{view.scale >= 1 ? `${view.scale.toFixed(1)} px/cycle` : `${(1 / view.scale).toFixed(1)} cycles/px`}</span>
    </footer>
  );
}
