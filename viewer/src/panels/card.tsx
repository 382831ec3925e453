/** Everything known about an instruction. */
import type { RowDetails } from '../model/row.js';
import { fillOf, themeOf } from '../model/palette.js';
import { grouped } from '../model/ticks.js';
import { core, settings } from '../page/store.js';

export function Card({ details, onRow }: { details: RowDetails; onRow?: (row: number) => void }) {
  const { stages } = core.value ?? { stages: [] };
  const theme = themeOf(settings.value);
  const { pc, text, row, id, thread, born, end, endCycle, flush, trap, bits } = details;
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
        <span>#{grouped(row)}</span>
        {pc !== null && <code>{pc}</code>}
        {bits !== null && <code title="machine code">{bits.toString(16).padStart(8, '0')}</code>}
        {thread !== null && <span>thread {thread}</span>}
        <span>id {id}</span>
      </div>
      <table>
        <tbody>
          {born === null && (
            <tr>
              <td colSpan={4} class="dim">born before the trace begins</td>
            </tr>
          )}
          {details.stages.map((span) => (
            <tr key={`${span.stage}-${span.from}`}>
              <td>
                <i class="swatch" style={{ background: fillOf(theme, span.stage) }} />
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
      {details.annotations.map(({ cycle, text: note }) => (
        <p key={`${cycle}-${note}`} class="note">
          {note}
        </p>
      ))}
      {details.isAbridged && <p class="dim">More happened than is listed.</p>}
    </div>
  );
}
