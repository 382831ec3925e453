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

/** With slots, all that follows them is the member, which may have dots. Without slots, `resolveWatch` finds the dot that matters. */
const FORM = /^(.+?)(?:\[(\d{1,5})(?::(\d{1,5}))?\](?:\.([^[\]/]+))?|\.([^.[\]/]+))?$/;

/** @throws UscopeError CLI_USAGE */
export function parseWatch(text: string): AskedWatch {
  const match = FORM.exec(text);
  const [, storage, first, end, ofSlots, last] = match ?? [];
  const member = ofSlots ?? last ?? null;
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
export function resolveWatch(trace: Trace, asked: AskedWatch): Watch {
  const { names } = trace;
  const { text, slots } = asked;
  const isStorage = (wanted: string): boolean =>
    names.storageNames.some((name) => name === wanted || name.endsWith(`/${wanted}`));
  // A name may have its own dots.
  if (slots === null && isStorage(text)) return { storage: text };
  const { storage, member } = slots === null ? splitAtStorage(asked, isStorage) : asked;
  const range = slots && ([slots[0], slots[1] - 1] as const);
  if (member === null) return range ? { storage, slots: range } : { storage };
  const def = names.storage(storage);
  const property = wideNamed(def.properties, member);
  if (!range && (property || def.properties.some(({ name }) => name === member)))
    return { storage, properties: property ?? [member] };
  const fields = wideNamed(def.fields, member) ?? [names.field(def, member)];
  return { storage, fields, ...(range ? { slots: range } : {}) };
}

/** `a.b.c`: the storage is what comes before the last dot that a storage's name ends at. */
function splitAtStorage(
  asked: AskedWatch,
  isStorage: (name: string) => boolean,
): Pick<AskedWatch, 'storage' | 'member'> {
  const { text } = asked;
  for (let dot = text.lastIndexOf('.'); dot > 0; dot = text.lastIndexOf('.', dot - 1)) {
    const storage = text.slice(0, dot);
    if (isStorage(storage)) return { storage, member: text.slice(dot + 1) };
  }
  return asked;
}

/** Indices of the pieces of a wide field; null: none has this name. */
function wideNamed(fields: readonly FieldDef[], name: string): number[] | null {
  const wide = logicalFields(fields).find((field) => field.bits > 0 && field.name === name);
  return wide ? [...wide.pieces, ...wide.unknown] : null;
}
