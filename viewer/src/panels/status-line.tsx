/** Shows where the pointer is, what is selected and how far the trace has been read. */
import { grouped, timeText } from '../model/ticks.js';
import { currentEngine } from '../page/threads/current-engine.js';
import { info, state, writerGone } from '../page/store.js';
import { RecordingState } from './recording.js';

export function StatusLine() {
  const shown = state.value;
  const trace = info.value;
  if (!shown || !trace) return null;
  const period = trace.clock?.periodPs ?? 0;
  const { hover, rows, isCounted, progress, selectedRow, view } = shown;
  // What the first segments let expect of the others may be far from what comes.
  const hasCount = isCounted || trace.diagonal !== null;
  return (
    <>
      <span class="wide">
        {hover ? placeText(hover.cycle, period) : ''}
      </span>
      <span>{hover?.details ? `row ${grouped(hover.details.row)}  ${hover.details.text}` : ''}</span>
      <span class="fill" />
      {selectedRow !== null && <span>selected {grouped(selectedRow)}</span>}
      <RecordingState />
      {writerGone.value !== null && <span class="live">{writerGone.value}</span>}
      {!trace.isComplete && writerGone.value === null && (
        <button
          type="button"
          class={shown.isFollowing ? 'live following' : 'live'}
          title={shown.isFollowing ? 'the picture moves with the end of the run; moving it ends that' : 'follow the run (l)'}
          onClick={() => currentEngine()?.run({ do: 'follow' })}
        >
          {shown.isFollowing ? 'live, following' : 'live, not following'}
        </button>
      )}
      {!isCounted && (
        <span class="progress" title="reading the whole trace once, for the overview">
          reading <progress value={progress} max={1} aria-label="part of the trace read" />
        </span>
      )}
      <span>
        {isCounted || !hasCount ? '' : '≈ '}
        {trace.core >= 0 && hasCount && `${grouped(rows)} instructions, `}
        {lengthText(trace.segmentCycles.at(-1)! - trace.segmentCycles[0]!, period)}
      </span>
      <span title="pixels per cycle">{view.scale >= 1 ? `${view.scale.toFixed(1)} px/cycle` : `${(1 / view.scale).toFixed(1)} cycles/px`}</span>
    </>
  );
}

const placeText = (cycle: number, period: number): string =>
  period > 0 ? `cycle ${grouped(cycle)}   ${timeText(cycle * period, period)}` : timeText(cycle, 1);

const lengthText = (cycles: number, period: number): string =>
  period > 0 ? `${grouped(cycles)} cycles` : timeText(cycles, cycles / 1000);
