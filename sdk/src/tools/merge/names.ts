/** A scope name for each input: as it calls itself, made unique. */
import { UscopeError } from '../../base/errors.js';
import { NO_ID, type Schema } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { CONTROL_SCOPE } from '../../schema/index.js';
import { errorIn } from '../../stream/item-stream.js';
import { findOverflow, type SlotOverflow } from '../../stream/slot-overflow.js';

/** One of the traces to be joined. */
export interface MergeInput {
  readonly trace: Trace;
  /** Name of its file without directory and extension, or whatever else distinguishes it from the others. */
  readonly name: string;
  /** What errors call it. */
  readonly file?: string | undefined;
  /** Name of its scope in the output; by default found from the trace. */
  readonly scope?: string | undefined;
}

export interface NamedInput {
  readonly trace: Trace;
  readonly name: string;
  readonly file: string | undefined;
  /** Its schema, with as many slots as it uses. */
  readonly overflow: SlotOverflow;
  /** Its scope in the output. */
  readonly scope: string;
  /** The input's scope that becomes this scope: its only one below an empty root, else the root itself. */
  readonly top: number;
}

/**
 * The one scope that holds everything, when the root is nothing but a shell around it; else the root, 0. The scope of control events,
 * which every recorded trace has, does not count: it goes below that one.
 */
export function topScope({ scopes, storages, events, summaryFields }: Schema): number {
  const children = scopes.filter(
    ({ parentId, scopeId, name }) => parentId === 0 && scopeId !== 0 && name !== CONTROL_SCOPE,
  );
  const [only] = children;
  const atRoot = [...storages, ...events, ...summaryFields].some(
    ({ scopeId }) => scopeId === NO_ID || scopeId === 0,
  );
  const isShell = children.length === 1 && !atRoot && (scopes[0]?.protocol ?? null) === null;
  return isShell && only ? only.scopeId : 0;
}

/**
 * Scope name, else DUT name, else file name: the first of these that no other input claims; where all are claimed, the file name
 * with a number. `notes` hears of every input that does not get its first choice.
 * @throws UscopeError SCHEMA_NAME for a given name that is none, SCHEMA_DUPLICATE for one given twice
 */
export async function nameInputs(inputs: readonly MergeInput[], notes: string[]): Promise<NamedInput[]> {
  const tops = inputs.map(({ trace }) => topScope(trace.schema));
  const wishes = inputs.map((input, index) => wishesOf(input, tops[index]));
  const given = inputs.map(({ scope }) => scope);
  checkGiven(given);
  const names: (string | undefined)[] = [...given];
  for (let rank = 0; names.includes(undefined) && rank < 3; rank++) claim(names, wishes, rank);
  const overflows: SlotOverflow[] = [];
  for (const { trace, name, file } of inputs) {
    const overflow = await findOverflow(trace).catch((error: unknown) => {
      throw errorIn(error, file);
    });
    for (const note of overflow.notes) notes.push(`${name}: ${note}`);
    overflows.push(overflow);
  }
  return inputs.map(({ trace, name, file }, index) => {
    const [wish = name] = wishes[index];
    const scope = names[index] ?? numbered(wishes[index].at(-1) ?? 'trace', names);
    names[index] = scope;
    if (given[index] === undefined && scope !== wish) {
      notes.push(`the scope of ${name} is called "${scope}": "${wish}" is not the only one`);
    }
    return { trace, name, file, overflow: overflows[index], scope, top: tops[index] };
  });
}

function wishesOf({ trace, name }: MergeInput, top: number): string[] {
  const own = top === 0 ? undefined : trace.schema.scopes[top].name;
  return [own, trace.dutProperty('dut_name'), name].flatMap((wish) => (wish ? [asName(wish)] : []));
}

/** Every input without a name takes its wish of this rank if nobody else has or wants it. */
function claim(names: (string | undefined)[], wishes: readonly (readonly string[])[], rank: number): void {
  const open = names.flatMap((name, index) => (name === undefined ? [index] : []));
  const wanted = open.map((index) => wishes[index][Math.min(rank, wishes[index].length - 1)]);
  const before = new Set(names);
  open.forEach((index, i) => {
    const wish = wanted[i];
    if (!before.has(wish) && wanted.indexOf(wish) === wanted.lastIndexOf(wish)) names[index] = wish;
  });
}

function numbered(wish: string, taken: readonly (string | undefined)[]): string {
  if (!taken.includes(wish)) return wish;
  for (let n = 2; ; n++) if (!taken.includes(`${wish}_${n}`)) return `${wish}_${n}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** Any text as a name of the format: other characters become `_`. */
function asName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_.-]/g, '_');
  return NAME.test(name) ? name : `_${name}`;
}

function checkGiven(given: readonly (string | undefined)[]): void {
  const seen = new Set<string>();
  for (const name of given) {
    if (name === undefined) continue;
    if (!NAME.test(name)) {
      const detail = `"${name}" is not a name for a scope; it takes a letter or _ first, then letters, digits, _ . -`;
      throw new UscopeError('SCHEMA_NAME', detail);
    }
    if (seen.has(name)) {
      throw new UscopeError(
        'SCHEMA_DUPLICATE',
        `two inputs are given the scope "${name}"; give each its own`,
      );
    }
    seen.add(name);
  }
}
