/** The selected instruction, and what every storage holds at the cursor. */
import { isChanged, slotName, type StorageSlot, type StorageState, type ValueOf } from '../../model/inspection.js';
import { rateText } from '../../model/number-text.js';
import { grouped, timeText } from '../../model/ticks.js';
import { currentEngine } from '../../page/threads/current-engine.js';
import {
  followsPointer,
  inFlight,
  inspectedCycle,
  inspection,
  openStorages,
} from '../../page/questions/inspection.js';
import { chosenCycle } from '../../page/places/places.js';
import { core, info, state } from '../../page/store.js';
import { Card } from '../card.js';

const goRow = (row: number): void => currentEngine()?.run({ do: 'goRow', row });

export function Inspector() {
  const details = state.value?.selected;
  return (
    <>
      {details && <Card details={details} onRow={goRow} isFull />}
      {!details && info.value !== null && info.value.core >= 0 && (
        <p class="hint">Click on an instruction, or select one with j and k.</p>
      )}
      <AtCursor />
    </>
  );
}

function AtCursor() {
  const cycle = inspectedCycle.value;
  const shown = inspection.value;
  const periodPs = info.value?.clock?.periodPs ?? 0;
  if (cycle === null || !shown) return null;
  const of = (kind: StorageState['kind']): StorageState[] =>
    shown.storages.filter((storage) => storage.kind === kind);
  const counters = of('counter');
  return (
    <section class="at-cursor" aria-label="state at the cursor" data-cycle={shown.cycle} aria-busy={shown.cycle !== cycle}>
      <h3>
        After cycle {grouped(shown.cycle)}
        {periodPs > 0 && <span class="dim"> {timeText(shown.cycle * periodPs, periodPs)}</span>}
        <span class="fill" />
        {chosenCycle.value !== null && (
          <button
            type="button"
            class={followsPointer.value ? 'tool on' : 'tool'}
            aria-pressed={followsPointer.value}
            title="follow the pointer instead of the chosen cursor"
            onClick={() => {
              followsPointer.value = !followsPointer.value;
            }}
          >
            follow
          </button>
        )}
      </h3>
      {[...of('buffer'), ...of('table'), ...of('registers')].map((storage) => (
        <Storage key={storage.id} storage={storage} />
      ))}
      {counters.length > 0 && <Counters counters={counters} />}
    </section>
  );
}

function Storage({ storage }: { storage: StorageState }) {
  const { id, kind, slots, hidden, occupied, slotCount, properties, fields } = storage;
  const isOpen = openStorages.value.includes(id);
  const isCountShown = kind !== 'registers';
  // Values side by side, where a line would hold one of them.
  const isList = fields.length === 1 && kind === 'registers';
  return (
    <details open={kind === 'buffer' || slotCount <= 64}>
      <summary>
        <b>{nameOf(storage)}</b>
        {isCountShown && (
          <span class="num dim">
            {' '}
            {grouped(occupied)} of {grouped(slotCount)}
          </span>
        )}
        {isChanged(storage) && <i class="changed-mark" role="img" aria-label="changed in this cycle" title="changed in this cycle" />}
        {properties.map((property) => (
          <span key={property.name} class="property">
            {property.name} <Value value={property} />
          </span>
        ))}
      </summary>
      {slots.length > 0 && (isList ? <Registers storage={storage} /> : <Slots storage={storage} />)}
      {(hidden > 0 || isOpen) && (
        <button
          type="button"
          class="link"
          onClick={() => {
            openStorages.value = isOpen ? openStorages.value.filter((one) => one !== id) : [...openStorages.value, id];
          }}
        >
          {isOpen ? 'fewer' : `${grouped(hidden)} more`}
        </button>
      )}
    </details>
  );
}

/** Storages of the core shown are called as in its scope. */
function nameOf({ name, isOfCore }: StorageState): string {
  const prefix = `${core.value?.name}/`;
  return isOfCore && name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function Registers({ storage }: { storage: StorageState }) {
  return (
    <ul class="registers">
      {storage.slots.map(({ slot, values }) => (
        <li key={slot}>
          <span class="dim">{slotName(storage, slot, isRiscV())}</span>
          <span class="num">
            <Value value={values[0]!} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const isRiscV = (): boolean => core.value?.xlen != null;

/** The id of an instruction is shown as the instruction. */
const ENTITY = 'entity_id';

function Slots({ storage }: { storage: StorageState }) {
  const { slots, fields } = storage;
  const columns = fields.flatMap((field, index) => (field === ENTITY ? [] : [{ field, index }]));
  const hasEntity = fields.includes(ENTITY);
  return (
    <div class="scrolling">
      <table class="slots">
        {columns.length > 0 && (
          <thead>
            <tr>
              <th scope="col" />
              {hasEntity && <th scope="col">instruction</th>}
              {columns.map(({ field }) => (
                <th key={field} scope="col">
                  {field}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {slots.map((slot) => (
            <Slot key={slot.slot} storage={storage} slot={slot} columns={columns.map(({ index }) => index)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SlotProps {
  readonly storage: StorageState;
  readonly slot: StorageSlot;
  readonly columns: readonly number[];
}

function Slot({ storage, slot, columns }: SlotProps) {
  const { markers, fields } = storage;
  const marks = markers.filter((marker) => marker.slot === slot.slot).map(({ name }) => name);
  const state = slot.isCleared ? 'cleared' : slot.isNew ? 'new' : slot.isTaken ? '' : 'empty';
  return (
    <tr class={state} title={slot.isCleared ? 'given away in this cycle' : slot.isNew ? 'taken in this cycle' : undefined}>
      <th scope="row">
        {slotName(storage, slot.slot, isRiscV())}
        {marks.map((mark) => (
          <span key={mark} class="slot-mark">
            {mark}
          </span>
        ))}
      </th>
      {fields.includes(ENTITY) && <td>{slot.entity !== null && <InstructionLink id={slot.entity} />}</td>}
      {columns.map((index) => (
        <td key={fields[index]} class="num">
          <Value value={slot.values[index]!} />
        </td>
      ))}
    </tr>
  );
}

function Value({ value: { text, before } }: { value: ValueOf }) {
  if (before === null) return <>{text}</>;
  return (
    <mark class="changed" title={before === '' ? 'set in this cycle' : `before: ${before}`}>
      {text === '' ? '–' : text}
    </mark>
  );
}

/** The instruction with an id. */
function InstructionLink({ id }: { id: number }) {
  const known = inFlight.value;
  if (!known || known.cycle !== inspection.value?.cycle) return <span class="dim">…</span>;
  const found = known.instructions.filter((one) => one.id === id).at(-1);
  if (!found) {
    return (
      <span class="dim" title="this instruction is not in flight any more">
        id {id}
      </span>
    );
  }
  const go = (): void => {
    if (found.row >= 0) goRow(found.row);
    else currentEngine()?.run({ do: 'selectId', id, cycle: known.cycle });
  };
  const text = found.text || found.pc || `#${found.row}`;
  return (
    <button type="button" class="link" title={[...(found.row < 0 ? [] : [`row ${grouped(found.row)}`]), ...(found.pc ? [found.pc] : [])].join(', ')} onClick={go}>
      <code>{text}</code>
    </button>
  );
}

function Counters({ counters }: { counters: readonly StorageState[] }) {
  return (
    <details open>
      <summary>
        <b>counters</b>
      </summary>
      <table class="slots">
        <thead>
          <tr>
            <th scope="col" />
            <th scope="col">value</th>
            <th scope="col">change</th>
            <th scope="col" title="per cycle, over the last 256 cycles">
              per cycle
            </th>
          </tr>
        </thead>
        <tbody>
          {counters.map(({ counter, ...storage }) => (
            <tr key={storage.id}>
              <th scope="row">{nameOf({ counter, ...storage })}</th>
              <td class="num">{counter!.value.replace(/\B(?=(\d{3})+$)/g, ',')}</td>
              <td class="num">{counter!.delta === '0' ? '' : <mark class="changed">{signed(counter!.delta)}</mark>}</td>
              <td class="num dim">{rateText(counter!.rate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

const signed = (text: string): string => (text.startsWith('-') ? text : `+${text}`);
