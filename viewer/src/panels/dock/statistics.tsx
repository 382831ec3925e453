/** How the core performs in the range, or in what is on the screen, beside the whole run. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { AskError } from '../../data/asker.js';
import type { StatisticsAnswer } from '../../data/questions/statistics.js';
import { figureGroups } from '../../model/statistics-rows.js';
import { grouped } from '../../model/ticks.js';
import { currentEngine } from '../../page/threads/current-engine.js';
import { range } from '../../page/places/places.js';
import { info, pictureSize, settings, state } from '../../page/store.js';

type Report = NonNullable<StatisticsAnswer>;

/** A view that moves is not looked at before it rests. */
const REST_MS = 150;
/** A difference below this is not marked. */
const NOTABLE = 0.1;

const ofRange = signal<Report | null>(null);
const ofRun = signal<Report | null>(null);
/** Of the run, 0 to 1. */
const progress = signal(0);
const problem = signal<string | null>(null);

export function Statistics() {
  const trace = info.value;
  const shown = shownRange();
  const key = shown ? `${shown.from} ${shown.to}` : '';
  useEffect(() => {
    ofRun.value = null;
    const controller = new AbortController();
    void ask(null, 'run statistics', controller.signal, (report) => {
      ofRun.value = report;
    });
    progress.value = 0;
    const watch = setInterval(() => {
      if (ofRun.value) clearInterval(watch);
      else void askProgress(controller.signal);
    }, 500);
    return () => {
      clearInterval(watch);
      controller.abort();
    };
    // While the run continues: what is known now; again when it has ended.
  }, [trace === null, trace?.isComplete]);
  useEffect(() => {
    if (!shown) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      void ask(shown, 'statistics', controller.signal, (report) => {
        ofRange.value = report;
      });
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [trace === null, key]);
  if (!trace || !shown) return <p class="hint">Statistics need a core with a clock.</p>;
  const report = ofRange.value;
  const isStale = !report || Number(report.fromCycle) !== shown.from || Number(report.toCycle) !== shown.to;
  return (
    <div class="figures" data-range={isStale ? '' : key} data-run={ofRun.value ? 'known' : ''}>
      <p class="dim">
        {range.value ? 'The range' : 'What is on the screen'}: cycles {grouped(shown.from)} to {grouped(shown.to - 1)}.
      </p>
      {problem.value !== null && <p class="flush">{problem.value}</p>}
      <table aria-busy={isStale}>
        <thead>
          <tr>
            <td />
            <th scope="col">{range.value ? 'range' : 'screen'}</th>
            <th scope="col">{ofRun.value ? 'run' : progress.value > 0 ? `run ${Math.floor(progress.value * 100)} %` : 'run …'}</th>
          </tr>
        </thead>
        {figureGroups(report, ofRun.value).map(({ title, rows }) => (
          <tbody key={title}>
            <tr>
              <th colSpan={3} scope="rowgroup">
                {title}
              </th>
            </tr>
            {rows.map((row) => (
              <tr key={row.name}>
                <td title={row.name}>{row.name}</td>
                <td class={Math.abs(row.difference) >= NOTABLE ? 'num notable' : 'num'}>
                  {Math.abs(row.difference) >= NOTABLE && (
                    <i aria-label={row.difference > 0 ? 'more than in the run' : 'less than in the run'}>
                      {row.difference > 0 ? '▲' : '▼'}
                    </i>
                  )}
                  {row.range}
                </td>
                <td class="num">{row.run}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** Whole cycles within the trace; null: there is nothing to count. */
function shownRange(): { from: number; to: number } | null {
  const trace = info.value;
  const view = state.value?.view;
  if (!trace || trace.core < 0 || !view || trace.clock === null) return null;
  const [first, last] = [trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 0];
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  const { from, to } = range.value ?? { from: Math.floor(view.x), to: Math.ceil(view.x + cycles) };
  const start = Math.max(first, Math.min(from, last - 1));
  return { from: start, to: Math.max(start + 1, Math.min(to, last)) };
}

async function askProgress(stopped: AbortSignal): Promise<void> {
  try {
    progress.value = (await currentEngine()?.questionThread('run statistics').ask('statisticsProgress', null, stopped)) ?? 0;
  } catch {
    // The statistics themselves report what is wrong.
  }
}

async function ask(
  wanted: { from: number; to: number } | null,
  purpose: 'statistics' | 'run statistics',
  stopped: AbortSignal,
  use: (report: StatisticsAnswer) => void,
): Promise<void> {
  try {
    const answer = await currentEngine()?.questionThread(purpose).ask('statistics', { range: wanted }, stopped);
    if (stopped.aborted || answer === undefined) return;
    problem.value = null;
    use(answer);
  } catch (error) {
    if (!stopped.aborted) problem.value = error instanceof AskError ? error.message : String(error);
  }
}
