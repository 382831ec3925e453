/** Questions in SQL about the trace, which the server of `uscope view` answers. */
import { useEffect } from 'preact/hooks';
import { grouped } from '../../../model/ticks.js';
import { range } from '../../../page/places/places.js';
import { obstacle } from './ask.js';
import { Editor } from './editor.js';
import { answer, ask, asking, goToCycle, isLimited, limit, loadNames, names, problem, question, shownTime } from './state.js';
import { readyMade } from './words.js';

const LIMITS = [10, 30, 120, 600];

export function Sql() {
  useEffect(() => {
    if (obstacle !== null) return;
    const controller = new AbortController();
    void loadNames(controller.signal);
    return () => controller.abort();
  }, []);
  if (obstacle !== null) return <p class="hint" id="sql-obstacle">{obstacle}</p>;
  const shown = shownTime();
  return (
    <div class="sql">
      <ReadyMade />
      {/* Above the text, where the list of words does not cover it. */}
      <p class="sql-line">
        <button type="button" class="tool text" id="sql-ask" title="Ctrl+Enter" disabled={asking.value !== null} onClick={() => void ask()}>
          ask
        </button>
        <button type="button" class="tool text" id="sql-cancel" disabled={asking.value === null} onClick={() => asking.value?.abort()}>
          cancel
        </button>
        <label class="dim">
          at most{' '}
          <select aria-label="longest time" value={String(limit.value)} onChange={(event) => (limit.value = Number(event.currentTarget.value))}>
            {LIMITS.map((seconds) => (
              <option key={seconds} value={String(seconds)}>{seconds} s</option>
            ))}
          </select>
        </label>
      </p>
      <Editor />
      <p class="sql-line">
        <label title="Tables then have the rows that touch it. $from and $to are its cycles.">
          <input type="checkbox" checked={isLimited.value} onChange={(event) => (isLimited.value = event.currentTarget.checked)} />{' '}
          only {range.value ? 'the range' : 'what is on the screen'}
          {shown && <span class="dim">: cycles {grouped(shown.from)} to {grouped(shown.to - 1)}</span>}
        </label>
      </p>
      {problem.value !== null && <p class="flush sql-problem" role="alert" id="sql-problem">{problem.value}</p>}
      <p class="dim" role="status" id="sql-state">{stateText()}</p>
      <Rows />
    </div>
  );
}

function ReadyMade() {
  const all = names.value ? readyMade(names.value) : [];
  return (
    <select
      class="sql-ready"
      aria-label="ready-made questions"
      value=""
      onChange={(event) => {
        question.value = event.currentTarget.value;
        event.currentTarget.value = '';
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <option value="">ready-made questions</option>
      {all.map(({ text, hint }) => (
        <option key={text} value={text} title={hint}>{text.slice('from '.length)}: {hint}</option>
      ))}
    </select>
  );
}

function stateText(): string {
  if (asking.value) return 'asking…';
  const now = answer.value;
  if (!now) return '';
  const count = now.rows.length;
  const rows = now.isCut ? `the first ${grouped(count)} rows; there are more` : `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`;
  return `${rows}, ${now.seconds < 10 ? now.seconds.toFixed(2) : Math.round(now.seconds)} s`;
}

function Rows() {
  const now = answer.value;
  if (!now || now.columns.length === 0) return null;
  const isNumber = now.columns.map((_, at) => now.rows.every((row) => row[at] === null || !Number.isNaN(Number(row[at]))));
  return (
    <div class="sql-rows" aria-busy={asking.value !== null}>
      <table>
        <thead>
          <tr>
            {now.columns.map((name, at) => (
              <th key={name} scope="col" class={isNumber[at] ? 'num' : ''}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {now.rows.map((row, index) => {
            const place = now.places[index] ?? null;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of an answer do not move
              <tr key={index}>
                {row.map((cell, at) => (
                  <td key={now.columns[at]} class={isNumber[at] ? 'num' : ''}>
                    {place !== null && at === now.placeColumn ? (
                      <button type="button" class="link num" title={`go to cycle ${grouped(place)}`} onClick={() => goToCycle(place)}>
                        {textOf(cell)}
                      </button>
                    ) : (
                      textOf(cell)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type CellValue = string | number | boolean | null;

const textOf = (cell: CellValue): string =>
  cell === null ? '' : typeof cell === 'number' && !Number.isInteger(cell) ? String(Number(cell.toPrecision(6))) : String(cell);
