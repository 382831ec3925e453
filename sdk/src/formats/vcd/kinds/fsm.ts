/** `fsms`: `NAME: {state: SIGNAL, values: {IDLE: 0, BUSY: 1}}` becomes an enum, a storage with the state, and an event for every change. */
import { UscopeError } from '../../../base/errors.js';
import { isName } from '../../../schema/names.js';
import { parseNumber } from '../sampling/condition.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';
import type { Wide } from '../sampling/probe.js';

/** States that the map does not name. */
const OTHER = 'other';
const MAX_VALUES = 254;

export function planFsm(scope: PlanScope, entry: EntryReader): void {
  const keys = entry.fixedKeys(['state', 'values']);
  const part = scope.bits(entry.needed(keys, 'state', 'state: SIGNAL'));
  const values = entry.pairs(keys, 'values');
  const labels = values.length > 0 ? values.map(([name]) => name) : numbered(part.width);
  const numbers =
    values.length > 0 ? values.map(([, text]) => parseNumber(text)) : labels.map((_, index) => index);
  check(entry.name, labels, numbers);
  const changed = `${entry.name}_changed`;
  scope.take(changed);
  const enumName = `${scope.name}.${entry.name}`;
  scope.enums.push((builder) => builder.enum(enumName, [...labels, OTHER]));
  scope.members.push((builder) =>
    builder
      .storage(entry.name, { slots: 1, kind: 'dense', fields: { state: enumName } })
      .event(changed, { from: enumName, to: enumName }),
  );
  scope.recorders.push((run) => {
    const [storage, event] = [
      run.storage(`${scope.name}/${entry.name}`),
      run.event(`${scope.name}/${changed}`),
    ];
    const ordinals = new Map<Wide, number>(numbers.map((number, ordinal) => [number, ordinal]));
    const probe = run.probe(part);
    const tally = run.kept(`changes of ${entry.name}`, 'SET and an event');
    let last = -1;
    return {
      edge() {
        const state = probe.isUnknown() ? labels.length : (ordinals.get(probe.value()) ?? labels.length);
        if (state === last) return;
        run.set(storage, 0, 0, state);
        if (last >= 0) run.open().event(event, [last, state]);
        tally.count++;
        last = state;
      },
    };
  });
}

/** Without names, states of up to 4 bits are called by their number. */
function numbered(width: number): string[] {
  if (width <= 4) return Array.from({ length: 1 << width }, (_, value) => `s${value}`);
  throw new UscopeError(
    'CONVERT_OPTION',
    `a state of ${width} bits needs names: write values: {NAME: NUMBER}`,
  );
}

function check(name: string, labels: readonly string[], numbers: readonly number[]): void {
  const wrong = numbers.findIndex((number) => !Number.isSafeInteger(number) || number < 0);
  if (wrong >= 0)
    throw new UscopeError('CONVERT_OPTION', `the value of "${labels[wrong]}" is not a number below 2^53`);
  const odd = labels.find((label) => !isName(label) || label === OTHER);
  if (odd !== undefined) throw new UscopeError('CONVERT_OPTION', `"${odd}" cannot be the name of a state`);
  if (labels.length > MAX_VALUES)
    throw new UscopeError(
      'CONVERT_OPTION',
      `"${name}" has ${labels.length} states; ${MAX_VALUES} are the most`,
    );
}
