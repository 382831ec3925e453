/** A comparison's report for people. */
import { onOneLine } from '../../base/printable.js';
import { isUnknown } from '../../semantics/cpu/riscv/disassemble.js';
import type {
  CellView,
  DiffReport,
  ItemView,
  LastCommon,
  RetiredCoreReport,
  RetiredInstruction,
  RetiredReport,
  StateReport,
  TimeReport,
} from '../../tools/diff/index.js';
import { io, paint } from '../common/io.js';

/** Longest list of names or paths that is printed. */
const MAX_LISTED = 20;

/** Turns machine code into words; null where it cannot. */
export type Disassemble = (bits: number, pc: bigint) => string | null;

const line = (text = ''): void => io.out(`${text}\n`);

export function printDiff(report: DiffReport, disassemble: Disassemble): void {
  const { same, a, b, result, schema } = report;
  line(onOneLine(same ? `${a} and ${b} are the same` : `${a} and ${b} differ`));
  listed(`only in ${a}`, schema.onlyA);
  listed(`only in ${b}`, schema.onlyB);
  listed('defined differently', schema.changed);
  if (result.by === 'time') printTime(result);
  else if (result.by === 'state') printState(result);
  else printRetired(result, disassemble);
}

function listed(title: string, names: readonly string[]): void {
  if (names.length === 0) return;
  line(`${onOneLine(title)}:`);
  for (const name of names.slice(0, MAX_LISTED)) line(`  ${onOneLine(name)}`);
  if (names.length > MAX_LISTED) line(`  and ${names.length - MAX_LISTED} more`);
}

const at = ({ timePs, cycle }: { readonly timePs: bigint; readonly cycle: bigint | null }): string =>
  cycle === null ? `${timePs} ps` : `${timePs} ps, cycle ${cycle}`;

function printLast(last: LastCommon | null): void {
  line(last ? `last the same at ${at(last)}` : 'nothing before is the same');
}

const KINDS = {
  value: 'different values',
  item: 'different items',
  only_a: 'the second trace has nothing there',
  only_b: 'the first trace has nothing there',
  order: 'the same items in another order',
} as const;

function printTime(report: TimeReport): void {
  const { first, instants, paths } = report;
  if (first) {
    line(
      `${paint('bold', `first difference at ${at(first)}`)}: ${paint('cyan', first.path)}, ${KINDS[first.kind]}`,
    );
    for (const item of first.before) line(`    ${itemText(item)}`);
    for (const [index, item] of first.nextA.entries())
      line(`${index === 0 ? paint('red', '  < ') : '  < '}${itemText(item)}`);
    if (first.nextA.length === 0) line('  < the end');
    for (const [index, item] of first.nextB.entries())
      line(`${index === 0 ? paint('green', '  > ') : '  > '}${itemText(item)}`);
    if (first.nextB.length === 0) line('  > the end');
    printLast(first.last);
  }
  line(`items: ${report.itemsA} and ${report.itemsB}`);
  const { same, different, reordered, onlyA, onlyB } = instants;
  line(
    `instants: ${same} the same, ${different} different, ${reordered} in another order, ${onlyA} only in the first, ${onlyB} only in the second`,
  );
  for (const { path, itemsA, itemsB, instants: count, firstPs } of paths.slice(0, MAX_LISTED)) {
    const since = firstPs === null ? '' : `, first at ${firstPs} ps`;
    line(`  ${onOneLine(path)}: ${itemsA} and ${itemsB} items, ${count} instants differ${since}`);
  }
  if (paths.length > MAX_LISTED) line(`  and ${paths.length - MAX_LISTED} more`);
}

function itemText(item: ItemView): string {
  const { path, what, slot } = item;
  const place = slot === null ? path : `${path}[${slot}]`;
  const fields = Object.entries(item.fields);
  const body =
    what === 'event'
      ? `event ${path}${fields.map(([name, value]) => ` ${name}=${value}`).join('')}`
      : what === 'clear'
        ? `clear ${place}`
        : fields
            .map(([name, value]) => `${what} ${place}.${name} ${what === 'add' ? '+=' : '='} ${value}`)
            .join('');
  return `${paint('dim', at(item))}  ${onOneLine(body)}`;
}

function printState(report: StateReport): void {
  const { first, instants, storages } = report;
  if (first) {
    const more = first.cellCount > 1 ? ` (${first.cellCount} values)` : '';
    line(`${paint('bold', `first difference at ${at(first)}`)}${more}:`);
    for (const cell of first.cells) line(`  ${cellText(cell)}`);
    if (first.cellCount > first.cells.length) line(`  and ${first.cellCount - first.cells.length} more`);
    printLast(first.last);
  }
  line(`instants: ${instants.same} with the same state, ${instants.different} with different ones`);
  line(`at the end ${report.atEnd} of ${report.values} values differ`);
  for (const { path, firstPs, instants: count, atEnd } of storages.slice(0, MAX_LISTED)) {
    line(`  ${onOneLine(path)}: first at ${firstPs} ps, after ${count} instants, ${atEnd} values at the end`);
  }
  if (storages.length > MAX_LISTED) line(`  and ${storages.length - MAX_LISTED} more`);
}

function cellText({ path, slot, field, a, b }: CellView): string {
  const place = `${path}${slot === null ? '' : `[${slot}]`}${field === null ? '' : `.${field}`}`;
  const shown = (value: string | null): string => value ?? 'not valid';
  return `${paint('cyan', place)}  ${onOneLine(`< ${shown(a)}  > ${shown(b)}`)}`;
}

function printRetired({ cores, onlyA, onlyB }: RetiredReport, disassemble: Disassemble): void {
  listed('cores only in the first', onlyA);
  listed('cores only in the second', onlyB);
  for (const core of cores) printCore(core, disassemble);
}

function printCore(report: RetiredCoreReport, disassemble: Disassemble): void {
  const { core, first } = report;
  if (first) {
    const what = first.fields.length > 0 ? `: ${first.fields.join(', ')}` : '';
    line(paint('bold', `${core}: first difference after ${first.index} instructions${what}`));
    const text = (one: RetiredInstruction): string => instructionText(one, first.fields, disassemble);
    for (const one of first.before) line(`    ${text(one)}`);
    for (const one of first.nextA) line(`  < ${text(one)}`);
    if (first.nextA.length === 0) line('  < no more');
    for (const one of first.nextB) line(`  > ${text(one)}`);
    if (first.nextB.length === 0) line('  > no more');
  }
  line(
    `${onOneLine(core)}: ${report.retiredA} and ${report.retiredB} instructions retired, ${report.same} the same`,
  );
  if (!first) return;
  const { stretches, changed, onlyA, onlyB, aligned } = report;
  line(
    `  ${stretches} stretches differ: ${changed} instructions changed, ${onlyA} only in the first, ${onlyB} only in the second`,
  );
  if (!aligned) line('  the two do not come together again; what follows was only counted');
}

function instructionText(
  { timePs, cycle, pc, bits, values }: RetiredInstruction,
  fields: readonly string[],
  disassemble: Disassemble,
): string {
  const address = pc === null ? '' : ` ${pc.toString(16).padStart(8, '0')}`;
  const code = bits === null ? '' : ` ${bits.toString(16).padStart(8, '0')}`;
  const found = bits !== null && pc !== null ? disassemble(bits, pc) : null;
  const words = found !== null && isUnknown(found) ? (values.text ?? found) : found;
  const rest = fields.flatMap((name) => (values[name] ? [` ${name}=${values[name]}`] : []));
  return `${paint('dim', at({ timePs, cycle }))} ${onOneLine(`${address}${code} ${words ?? values.text ?? ''}${rest.join('')}`)}`.trimEnd();
}
