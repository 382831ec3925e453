/** The profile of cycles: by function, line of source or address, of the range or of the whole run. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { AskError } from '../../data/asker.js';
import type { ProfileAnswer } from '../../data/questions/profile.js';
import { type Grouping, GROUPINGS, patternOf, type ProfileLine, profileLines } from '../../model/profile.js';
import { grouped } from '../../model/ticks.js';
import { currentEngine } from '../../page/threads/current-engine.js';
import { changeLayout } from '../../page/layout.js';
import { range } from '../../page/places/places.js';
import { functionPattern, hasProgram, isReadingLines, lacksTool, linesVersion, placeOf, symbols, wantLines } from '../../page/program.js';
import { beginSearch } from '../../page/questions/search.js';
import { info } from '../../page/store.js';

const MAX_LINES = 300;
const PROGRESS_MS = 500;

const answer = signal<ProfileAnswer | null>(null);
const problem = signal<string | null>(null);
const progress = signal(0);
const grouping = signal<Grouping>(hasProgram ? 'function' : 'address');
const filter = signal('');

export function Profile() {
  const trace = info.value;
  const chosen = range.value;
  const key = chosen ? `${chosen.from} ${chosen.to}` : 'run';
  useEffect(() => {
    const controller = new AbortController();
    answer.value = null;
    progress.value = 0;
    void ask(chosen, controller.signal);
    const watch = setInterval(() => void askProgress(controller.signal), PROGRESS_MS);
    return () => {
      clearInterval(watch);
      controller.abort();
    };
    // While the run continues: what is known now; again when it has ended.
  }, [trace === null, trace?.isComplete, key]);
  const found = answer.value;
  // Lines are asked for once the table shows them.
  useEffect(() => {
    if (found && grouping.value === 'line') wantLines(found.pcs);
  }, [found, grouping.value, symbols.value]);
  if (problem.value !== null) return <p class="flush">{problem.value}</p>;
  if (!found) return <p class="hint">Counting{progress.value > 0 ? `: ${Math.floor(progress.value * 100)} %` : ' …'}</p>;
  return (
    <div class="figures profile" data-range={key} data-lines={linesVersion.value}>
      <p class="dim">
        {chosen ? `Cycles ${grouped(chosen.from)} to ${grouped(chosen.to - 1)}` : 'The whole run'}: cycles from the retirement before to that of
        the instruction.
      </p>
      <p class="chooser-tools" style={{ whiteSpace: 'nowrap', gap: '6px' }}>
        {GROUPINGS.map((one) => (
          <button
            key={one}
            type="button"
            class={grouping.value === one ? 'tool text on' : 'tool text'}
            aria-pressed={grouping.value === one}
            disabled={one !== 'address' && !hasProgram}
            title={hasProgram || one === 'address' ? `by ${one}` : 'needs the program: uscope view … --elf PROGRAM'}
            onClick={() => (grouping.value = one)}
          >
            {one}
          </button>
        ))}
        <input
          type="search"
          style={{ flex: 1, minWidth: 0 }}
          aria-label="function"
          placeholder="function"
          value={filter.value}
          disabled={!hasProgram}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
      </p>
      {grouping.value === 'line' && lacksTool.value && <p class="hint">Lines of source need llvm-symbolizer or addr2line where uscope view runs.</p>}
      <Lines found={found} />
    </div>
  );
}

function Lines({ found }: { found: ProfileAnswer }) {
  // Lines come later.
  const isReading = grouping.value === 'line' && linesVersion.value >= 0 && isReadingLines.value;
  const all = profileLines(found, placeOf, grouping.value, filter.value);
  const total = found.cycles.reduce((sum, one) => sum + one, 0);
  return (
    <>
      <table>
        <colgroup>
          <col />
          {[62, 42, 62, 62].map((width, at) => (
            <col key={at} style={{ width: `${width}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <td style={{ width: 'auto' }}>{grouping.value}</td>
            <th scope="col">cycles</th>
            <th scope="col">%</th>
            <th scope="col">retired</th>
            <th scope="col">stalled</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, MAX_LINES).map((line) => (
            <Line key={line.name} line={line} total={total} />
          ))}
        </tbody>
      </table>
      {isReading && <p class="hint">Reading lines of source …</p>}
      {all.length > MAX_LINES && <p class="hint">{grouped(all.length - MAX_LINES)} more with fewer cycles.</p>}
      {all.length === 0 && <p class="hint">No function has such a name.</p>}
    </>
  );
}

function Line({ line, total }: { line: ProfileLine; total: number }) {
  const stalled = line.stalls.reduce((sum, one) => sum + one.cycles, 0);
  const reasons = line.stalls.map(({ reason, cycles }) => `${reason} ${grouped(cycles)}`);
  return (
    <>
      <tr>
        <td colSpan={5} title={[line.name, line.of].filter(Boolean).join(' in ')}>
          <button
            type="button"
            class="link"
            title="find its instructions: mark them and list them"
            onClick={() => {
              beginSearch((grouping.value === 'function' ? functionPattern(line.name) : null) ?? patternOf(line));
              changeLayout({ isDockOpen: true, tab: 'results' });
            }}
          >
            {line.name}
          </button>
          {line.of && ` ${line.of}`}
        </td>
      </tr>
      <tr>
        <td class="dim" style={{ width: 'auto' }} title={reasons.join('\n')}>
          {reasons.slice(0, 3).join(', ')}
        </td>
        <td class="num">{grouped(line.cycles)}</td>
        <td class="num">{total > 0 ? ((100 * line.cycles) / total).toFixed(1) : ''}</td>
        <td class="num">{grouped(line.count)}</td>
        <td class="num">{grouped(stalled)}</td>
      </tr>
    </>
  );
}

async function ask(wanted: { from: number; to: number } | null, stopped: AbortSignal): Promise<void> {
  try {
    const found = await currentEngine()?.questionThread('profile').ask('profile', { range: wanted }, stopped);
    if (stopped.aborted || found === undefined) return;
    problem.value = found === null ? 'A profile needs a core with a clock.' : null;
    answer.value = found;
  } catch (error) {
    if (!stopped.aborted) problem.value = error instanceof AskError ? error.message : String(error);
  }
}

async function askProgress(stopped: AbortSignal): Promise<void> {
  if (answer.value) return;
  try {
    progress.value = (await currentEngine()?.questionThread('profile').ask('profileProgress', null, stopped)) ?? 0;
  } catch {
    // The profile itself reports what is wrong.
  }
}
