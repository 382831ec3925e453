/** Everything known about an instruction. */
import type { RowDetails, StageSpan } from '../model/row.js';
import { stageColour, themeOf } from '../model/palette.js';
import { grouped } from '../model/ticks.js';
import { functionText, hasProgram, lineOf, linesVersion } from '../page/program.js';
import { relations } from '../page/questions/relations.js';
import { core, settings } from '../page/store.js';

interface CardProps {
  readonly details: RowDetails;
  /** Goes to a row: numbers of rows are links. */
  readonly onRow?: (row: number) => void;
  /** With what must be asked of the trace. */
  readonly isFull?: boolean;
}

export function Card({ details, onRow, isFull = false }: CardProps) {
  const { stages } = core.value ?? { stages: [] };
  const theme = themeOf(settings.value);
  const { pc, text, row, id, thread, born, end, endCycle, flush, trap, bits } = details;
  const others = isFull && relations.value?.row === row ? relations.value : null;
  const waited = longestStay(details);
  const life = born !== null && endCycle !== null ? endCycle - born : null;
  const rowLink = (target: number) =>
    onRow ? (
      <button type="button" class="link" onClick={() => onRow(target)}>
        {grouped(target)}
      </button>
    ) : (
      grouped(target)
    );
  return (
    <div class="card">
      <div class="card-title">
        <code>{text || 'no disassembly'}</code>
        <span class={`end ${end.replace(' ', '-')}`}>{end}</span>
      </div>
      <div class="card-sub">
        <span title="number in the trace">#{grouped(row)}</span>
        {others?.retired != null && <span title="number among the retired ones">retired {grouped(others.retired)}</span>}
        {thread !== null && <span>thread {thread}</span>}
        <span>id {id}</span>
      </div>
      <div class="card-sub">
        {pc !== null && <code title="address">{pc}</code>}
        {bits !== null && <code title="machine code">{bits.toString(16).padStart(8, '0')}</code>}
      </div>
      {pc !== null && hasProgram && <Source pc={BigInt(pc)} />}
      <table>
        <tbody>
          {born === null && (
            <tr>
              <td colSpan={4} class="dim">born before the trace begins</td>
            </tr>
          )}
          {details.stages.map((span) => (
            <tr key={`${span.stage}-${span.from}`} class={span === waited ? 'longest' : ''}>
              <td>
                <i class="swatch" style={{ background: stageColour(theme, stages, span.stage, settings.value.stages) }} />
                {stages[span.stage] ?? 'unknown stage'}
              </td>
              <td class="num">{grouped(span.from)}</td>
              <td class="num dim">{span.to === null ? '…' : `to ${grouped(Math.max(span.from, span.to - 1))}`}</td>
              <td class="num">{span.to === null ? '' : `${grouped(span.to - span.from)}`}</td>
            </tr>
          ))}
          {endCycle !== null && (
            <tr class="total">
              <td>{end}</td>
              <td class="num">{grouped(endCycle)}</td>
              <td class="num dim">after</td>
              <td class="num">{life === null ? '' : grouped(life)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {flush && (
        <p class="flush">
          flushed in cycle {grouped(flush.cycle)}
          {flush.reason && <>: {flush.reason}</>}
        </p>
      )}
      {trap && (
        <p class="flush">
          trap in cycle {grouped(trap.cycle)}: {trap.text}
        </p>
      )}
      {details.stalls.length > 0 && (
        <p>
          <span class="dim">stalls of the core meanwhile: </span>
          {details.stalls.map(({ reason, cycles }) => `${reason} ${grouped(cycles)}`).join(', ')}
        </p>
      )}
      {details.ownStalls.length > 0 && (
        <p>
          <span class="dim">stalls that name it: </span>
          {details.ownStalls.map(({ cycle, text: reason }) => `${reason} in ${grouped(cycle)}`).join(', ')}
        </p>
      )}
      {details.dependencies.length > 0 && (
        <p>
          <span class="dim">waited for </span>
          {details.dependencies.map(({ producer, type, cycle }, index) => (
            <span key={`${producer}-${cycle}-${type}`}>
              {index > 0 && ', '}
              {producer === null ? 'an instruction not known' : rowLink(producer)}
              {type && ` (${type})`}
              <span class="dim"> in {grouped(cycle)}</span>
            </span>
          ))}
        </p>
      )}
      {others && others.consumers.length > 0 && (
        <p>
          <span class="dim">waited for by </span>
          {others.consumers.map((consumer, index) => (
            <span key={`${consumer.row}-${consumer.cycle}-${consumer.type}`}>
              {index > 0 && ', '}
              {consumer.row < 0 ? 'an instruction not known' : rowLink(consumer.row)}
              {consumer.type && ` (${consumer.type})`}
              <span class="dim"> in {grouped(consumer.cycle)}</span>
            </span>
          ))}
        </p>
      )}
      {details.annotations.map(({ cycle, text: note }) => (
        <p key={`${cycle}-${note}`} class="note">
          <span class="num">{grouped(cycle)}</span> {note}
        </p>
      ))}
      {details.isAbridged && <p class="dim">More happened than is listed.</p>}
    </div>
  );
}

/** Function and line of source. */
function Source({ pc }: { pc: bigint }) {
  // Lines come later.
  linesVersion.value;
  const line = lineOf(pc);
  return (
    <>
      <div class="card-sub">
        <span title="function">{functionText(pc) ?? 'no function'}</span>
        {line && <span title="line of source">{`${line.file}:${line.line}`}</span>}
      </div>
      {line?.text && <p class="note"><code>{line.text}</code></p>}
    </>
  );
}

/** The stage in which it stayed longest, where that is more than a cycle. */
function longestStay({ stages }: RowDetails): StageSpan | null {
  const length = ({ from, to }: StageSpan): number => (to === null ? 0 : to - from);
  const longest = stages.reduce<StageSpan | null>(
    (best, span) => (length(span) > (best ? length(best) : 1) ? span : best),
    null,
  );
  return stages.length > 1 ? longest : null;
}
