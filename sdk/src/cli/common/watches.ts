/** What to follow, as written on a command line: `rob`, `rob[3]`, `core0/rob[0:4].ready`, `rob.head`. */
import { UscopeError } from '../../base/errors.js';
import type { FieldDef } from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import type { Trace, Watch } from '../../reader/index.js';

export interface AskedWatch {
  /** As written. */
  readonly text: string;
  readonly storage: string;
  /** Start inclusive, end exclusive. */
  readonly slots: readonly [first: number, end: number] | null;
  /** A field or a property. */
  readonly member: string | null;
}

const FORM = /^(.+?)(?:\[(\d{1,5})(?::(\d{1,5}))?\])?(?:\.([^.[\]/]+))?$/;

/** @throws UscopeError CLI_USAGE */
export function parseWatch(text: string): AskedWatch {
  const match = FORM.exec(text);
  const [, storage, first, end, member = null] = match ?? [];
  if (!match || /[[\]]/.test(storage)) {
    throw new UscopeError(
      'CLI_USAGE',
      `"${text}" names no slots; write rob, rob[3], rob[0:4] or rob[3].ready`,
    );
  }
  if (first === undefined) return { text, storage, slots: null, member };
  const slots = [Number(first), end === undefined ? Number(first) + 1 : Number(end)] as const;
  if (slots[1] > slots[0]) return { text, storage, slots, member };
  throw new UscopeError('CLI_USAGE', `"${text}" is empty; the first slot is inclusive, the second not`);
}

/** @throws UscopeError READER_NAME */
export function resolveWatch(trace: Trace, { text, storage, slots, member }: AskedWatch): Watch {
  const { names } = trace;
  // A name may have its own dots.
  if (slots === null && names.storageNames.some((name) => name === text || name.endsWith(`/${text}`))) {
    return { storage: text };
  }
  const range = slots && ([slots[0], slots[1] - 1] as const);
  if (member === null) return range ? { storage, slots: range } : { storage };
  const def = names.storage(storage);
  const property = wideNamed(def.properties, member);
  if (!range && (property || def.properties.some(({ name }) => name === member)))
    return { storage, properties: property ?? [member] };
  const fields = wideNamed(def.fields, member) ?? [names.field(def, member)];
  return { storage, fields, ...(range ? { slots: range } : {}) };
}

/** Indices of the pieces of a wide field; null: none has this name. */
function wideNamed(fields: readonly FieldDef[], name: string): number[] | null {
  const wide = logicalFields(fields).find((field) => field.bits > 0 && field.name === name);
  return wide ? [...wide.pieces, ...wide.unknown] : null;
}
