/** The name of the trace, and what the picture shows. */
import { themeOf } from '../model/palette.js';
import { restart } from '../page/start.js';
import { currentEngine } from '../page/perform.js';
import { change, info, origin, panel, settings, state } from '../page/store.js';
import { ARROWS, FORMS, SORTS, SQUASHED } from '../drawing/settings.js';
import { COLOUR_MODES, PALETTES } from '../model/palette.js';

const FORM_NAMES = { auto: 'by zoom', classic: 'rows', folded: 'folded', straight: 'since fetch', strip: 'sums' } as const;
const SORT_NAMES = { fetch: 'by fetch', latency: 'by latency', pc: 'by pc', class: 'by class' } as const;
const SQUASHED_NAMES = { dim: 'dimmed', show: 'as others', blank: 'blank', collapse: 'no row' } as const;
const ARROW_NAMES = { selected: 'of selected', all: 'all', off: 'none' } as const;

export function TopBar() {
  const trace = info.value;
  return (
    <header class="top">
      <span class="brand">µScope</span>
      <span class="trace-name" title={origin.value?.name}>
        {origin.value?.name ?? ''}
      </span>
      {trace && trace.cores.length > 1 && (
        <Choice
          label="core"
          value={String(trace.core)}
          options={trace.cores.map(({ name }, index) => [String(index), name] as const)}
          onChange={(value) => restart(trace.cores[Number(value)]!.name)}
        />
      )}
      {trace && trace.cores.length === 0 && trace.clocks.length > 0 && (
        <Choice
          label="cycles of"
          value={trace.clock?.name ?? 'time'}
          options={[...trace.clocks.map(({ name }) => [name, name] as const), ['time', 'no clock: time'] as const]}
          onChange={(value) => restart(null, value)}
        />
      )}
      {trace && trace.cores.length === 1 && <span class="dim">{trace.cores[0]!.name}</span>}
      <span class="fill" />
      {trace && <Controls />}
      <button type="button" class="tool" title="light or dark (t)" aria-label="light or dark" onClick={() => change({ theme: settings.value.theme === 'dark' ? 'light' : 'dark' })}>
        {settings.value.theme === 'dark' ? '☀' : '☾'}
      </button>
      <button type="button" class="tool" title="keys (?)" aria-label="keys" onClick={() => (panel.value = 'help')}>
        ?
      </button>
    </header>
  );
}

function Controls() {
  const hasCore = (info.value?.core ?? -1) >= 0;
  const { colour, palette, form, squashed, sort, arrows } = settings.value;
  const run = currentEngine();
  return (
    <>
      {hasCore && (
        <>
          <Legend />
          <Choice label="colour" value={colour} options={COLOUR_MODES.map((mode) => [mode, mode] as const)} onChange={(value) => change({ colour: value as typeof colour })} />
          <Choice label="colours" value={palette} options={PALETTES.map((one) => [one, one] as const)} onChange={(value) => change({ palette: value as typeof palette })} />
          <Choice label="form" value={form} options={FORMS.map((one) => [one, FORM_NAMES[one]] as const)} onChange={(value) => change({ form: value as typeof form })} />
          {form === 'straight' && <Choice label="order" value={sort} options={SORTS.map((one) => [one, SORT_NAMES[one]] as const)} onChange={(value) => change({ sort: value as typeof sort })} />}
          <Choice label="squashed" value={squashed} options={SQUASHED.map((one) => [one, SQUASHED_NAMES[one]] as const)} onChange={(value) => change({ squashed: value as typeof squashed })} />
          <Choice label="arrows" value={arrows} options={ARROWS.map((one) => [one, ARROW_NAMES[one]] as const)} onChange={(value) => change({ arrows: value as typeof arrows })} />
        </>
      )}
      <span class="group">
        <button type="button" class="tool" title="zoom out (-)" aria-label="zoom out" onClick={() => run?.run({ do: 'zoom', factor: 0.5, at: null, axis: 'both' })}>−</button>
        <button type="button" class="tool" title="zoom in (+)" aria-label="zoom in" onClick={() => run?.run({ do: 'zoom', factor: 2, at: null, axis: 'both' })}>+</button>
        <button type="button" class="tool text" title="the whole run (f)" onClick={() => run?.run({ do: 'fit' })}>fit</button>
      </span>
      <button type="button" class="tool text" title="commands and places (F1)" onClick={() => (panel.value = 'palette')}>go to…</button>
    </>
  );
}

function Legend() {
  const shown = state.value;
  const theme = themeOf(settings.value);
  if (!shown || shown.form === 'strip' || shown.legend.length === 0) return null;
  return (
    <ul class="legend" aria-label="colours">
      {shown.legend.slice(0, 16).map(({ name, colour }) => (
        <li key={name}>
          <i class="swatch" style={{ background: colour ?? theme.plain }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select
        title={label}
        value={value}
        onChange={(event) => {
          onChange(event.currentTarget.value);
          // Keys go to the picture again.
          event.currentTarget.blur();
        }}
      >
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
