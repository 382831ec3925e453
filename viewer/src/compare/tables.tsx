/** Beside the pictures: what each instruction and function costs in both runs, and their statistics. */
import { shareText } from '../model/number-text.js';
import { figureGroups } from '../model/statistics-rows.js';
import { grouped } from '../model/ticks.js';
import type { SideCost } from './costs.js';
import { costs, functions, isCompared, problems, reports, type Tab, TABS, tab } from './store.js';

const TITLES: Readonly<Record<Tab, string>> = {
  instructions: 'By instruction',
  functions: 'By function',
  statistics: 'Statistics',
};
/** Differences from here on are marked, in parts of the larger value. */
const NOTABLE = 0.1;

export function Tables() {
  return (
    <aside class="tables">
      <div class="tabs" role="tablist">
        {TABS.map((one) => (
          <button key={one} type="button" role="tab" aria-selected={tab.value === one} onClick={() => (tab.value = one)}>
            {TITLES[one]}
          </button>
        ))}
      </div>
      <div class="table" role="tabpanel" tabIndex={0}>
        {tab.value === 'instructions' && <Instructions />}
        {tab.value === 'functions' && <Functions />}
        {tab.value === 'statistics' && <Statistics />}
      </div>
    </aside>
  );
}

const signed = (value: number): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${grouped(Math.abs(value))}`;

interface CostRow {
  readonly key: string;
  readonly name: string;
  readonly detail: string;
  readonly a: SideCost;
  readonly b: SideCost;
}

function whyNoCosts(): string {
  if (problems.value.some(({ isFatal }) => isFatal)) return 'The runs could not be compared.';
  return isCompared.value ? 'Every one costs the same in both runs.' : 'The runs are being compared.';
}

function Costs({ rows, title }: { readonly rows: readonly CostRow[]; readonly title: string }) {
  if (rows.length === 0)
    return <p class="dim">{whyNoCosts()}</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" class="num">
            B − A
          </th>
          <th scope="col" class="num" title="cycles from the retirement before it to its own">
            cycles A
          </th>
          <th scope="col" class="num" title="cycles from the retirement before it to its own">
            cycles B
          </th>
          <th scope="col" class="num" title="how often it retired">
            times A
          </th>
          <th scope="col" class="num" title="how often it retired">
            times B
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, detail, a, b }) => (
          <tr key={key}>
            <td title={`${name} ${detail}`}>
              <code>{name}</code> {detail}
            </td>
            <td class={`num ${b.cycles > a.cycles ? 'more' : 'less'}`}>{signed(b.cycles - a.cycles)}</td>
            <td class="num">{grouped(a.cycles)}</td>
            <td class="num">{grouped(b.cycles)}</td>
            <td class="num">{grouped(a.count)}</td>
            <td class={`num${a.count === b.count ? '' : ' notable'}`}>{grouped(b.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Instructions() {
  const rows = costs.value.map(({ pc, text, a, b }, index) => ({ key: `${pc}${index}`, name: pc, detail: text, a, b }));
  return <Costs rows={rows} title="instruction" />;
}

function Functions() {
  if (functions.value === null)
    return (
      <p class="dim">
        Functions come from the program: <code>uscope view A B --elf PROGRAM</code>.
      </p>
    );
  return <Costs rows={functions.value.map(({ name, a, b }) => ({ key: name, name: name || '(in no function)', detail: '', a, b }))} title="function" />;
}

function Statistics() {
  const { a, b } = reports.value;
  if (!a && !b) return <p class="dim">The statistics are counted after the comparison.</p>;
  return (
    <table>
      <thead>
        <tr>
          <td />
          <th scope="col" class="num">A</th>
          <th scope="col" class="num">{b ? 'B' : 'B …'}</th>
          <th scope="col" class="num">B against A</th>
        </tr>
      </thead>
      {figureGroups(b, a).map(({ title, rows }) => (
        <tbody key={title}>
          <tr>
            <th colSpan={4} scope="rowgroup">{title}</th>
          </tr>
          {rows.map(({ name, range: inB, run: inA, change }) => (
            <tr key={name}>
              <td title={name}>{name}</td>
              <td class="num">{inA}</td>
              <td class="num">{inB}</td>
              <td class={`num${Math.abs(change) >= NOTABLE ? ' notable' : ''}`}>
                {change === 0 ? '' : `${change > 0 ? '+' : '−'}${shareText(Math.abs(change))}`}
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}
