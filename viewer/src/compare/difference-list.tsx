/** Only the differences: what each run retired where the other one did not. */
import { grouped } from '../model/ticks.js';
import type { Difference, Line } from './protocol.js';
import { differences, isCompared } from './store.js';

/** More of them are not listed: the commands go to all. */
const LISTED = 500;

export function DifferenceList({ onGo }: { readonly onGo: (difference: Difference) => void }) {
  const list = differences.value;
  return (
    <div class="differences" tabIndex={0}>
      {list.length === 0 && (
        <p class="dim">
          {isCompared.value ? 'Both runs retired the same instructions in the same order.' : 'No difference so far.'}
        </p>
      )}
      {list.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col" class="num">after (A)</th>
              <th scope="col" class="num">cycle A</th>
              <th scope="col">only in A</th>
              <th scope="col" class="num">cycle B</th>
              <th scope="col">only in B</th>
            </tr>
          </thead>
          <tbody>
            {list.slice(0, LISTED).map((one) => (
              <tr key={`${one.retiredA}-${one.retiredB}`} class="link" tabIndex={0} onClick={() => onGo(one)} onKeyDown={({ key }) => key === 'Enter' && onGo(one)}>
                <td class="num">{grouped(one.retiredA)}</td>
                <td class="num">{one.cycleA < 0 ? '' : grouped(one.cycleA)}</td>
                <td>{linesOf(one.linesA, one.a, one.isLast)}</td>
                <td class="num">{one.cycleB < 0 ? '' : grouped(one.cycleB)}</td>
                <td>{linesOf(one.linesB, one.b, one.isLast)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.length > LISTED && <p class="dim">{grouped(list.length - LISTED)} more.</p>}
    </div>
  );
}

function linesOf(lines: readonly Line[], count: number, isLast: boolean) {
  return (
    <>
      {lines.map(({ pc, text }, index) => (
        <code key={index}>
          {pc} {text}
        </code>
      ))}
      {isLast ? <i>the runs do not meet again</i> : count > lines.length && <i>and {grouped(count - lines.length)} more</i>}
    </>
  );
}
