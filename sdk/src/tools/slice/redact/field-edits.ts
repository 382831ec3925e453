/** What happens to the values of each field of storages and events. */
import { UscopeError } from '../../../base/errors.js';
import { type FieldDef, FieldType, fieldSize, type Schema, scopePath } from '../../../format/types.js';
import { logicalFields } from '../../../format/wide-fields.js';
import type { Pseudonyms } from './pseudonyms.js';
import type { RedactionRules, ValueRule } from './rules.js';
import type { TextEdits } from './texts.js';

export interface FieldEdit {
  readonly kind: 'zero' | 'other';
  /** Bytes of the field. */
  readonly size: number;
  /** Of a text: it becomes the empty one. */
  readonly isText: boolean;
  edit(value: bigint): bigint;
}

/** By field; of a storage the properties follow. */
type Edits = readonly (FieldEdit | null)[];

export interface FieldEdits {
  readonly storages: readonly Edits[];
  readonly events: readonly (readonly { readonly offset: number; readonly edit: FieldEdit }[])[];
}

/** @throws UscopeError READER_NAME for a path that names nothing, SCHEMA_TYPE for what cannot be done to a field of its type */
export function fieldEdits(
  schema: Schema,
  rules: RedactionRules,
  texts: TextEdits,
  pseudonyms: Pseudonyms,
): FieldEdits {
  const used = new Set<ValueRule>();
  const editsOf = (owner: string, fields: readonly FieldDef[]): (FieldEdit | null)[] => {
    const names = new Array<string>(fields.length);
    const widths = new Array<number>(fields.length).fill(64);
    for (const { name, bits, pieces, unknown } of logicalFields(fields)) {
      for (const at of [...pieces, ...unknown]) names[at] = name;
      if (bits % 64 > 0)
        for (const row of [pieces, unknown]) if (row.length > 0) widths[row.at(-1)!] = bits % 64;
    }
    return fields.map(({ type }, at) => {
      const rule = rules.values.find(({ path }) => path === `${owner}.${names[at]}`);
      if (rule) used.add(rule);
      const bits = Math.min(widths[at], 8 * fieldSize(type));
      if (rule) return editOf(rule, type, bits, pseudonyms);
      const isPc =
        rules.pcs.length > 0 && rules.pcFields.includes(names[at]) && type !== FieldType.STRING_REF;
      if (!isPc) return null;
      const edit = (value: bigint): bigint => BigInt.asUintN(bits, texts.pc(value));
      return { kind: 'other', size: fieldSize(type), isText: false, edit };
    });
  };
  const ownerOf = ({ scopeId, name }: { readonly scopeId: number; readonly name: string }): string =>
    [scopePath(schema, scopeId), name].filter(Boolean).join('/');
  const storages = schema.storages.map((one) => [
    ...editsOf(ownerOf(one), one.fields),
    ...editsOf(ownerOf(one), one.properties),
  ]);
  const events = schema.events.map((one) => placed(one.fields, editsOf(ownerOf(one), one.fields)));
  for (const rule of rules.values) {
    if (!used.has(rule)) {
      const hint = 'it is SCOPE/STORAGE.FIELD or SCOPE/EVENT.FIELD';
      throw new UscopeError('READER_NAME', `no field "${rule.path}"; ${hint}`, rule.place);
    }
  }
  return { storages, events };
}

function editOf(
  { how, path, place }: ValueRule,
  type: FieldType,
  bits: number,
  pseudonyms: Pseudonyms,
): FieldEdit {
  const size = fieldSize(type);
  const isText = type === FieldType.STRING_REF;
  if (how === 'zero') return { kind: 'zero', size, isText, edit: () => 0n };
  if (isText || type === FieldType.BOOL || type === FieldType.ENUM) {
    const reason = isText ? 'a text: rules of "texts" replace it' : 'of too few values';
    throw new UscopeError(
      'SCHEMA_TYPE',
      `"${path}" cannot be scrambled, as it is ${reason}; zero is possible`,
      place,
    );
  }
  return { kind: 'other', size, isText, edit: (value) => BigInt.asUintN(bits, pseudonyms.number(value)) };
}

function placed(fields: readonly FieldDef[], edits: Edits) {
  const found: { readonly offset: number; readonly edit: FieldEdit }[] = [];
  let offset = 0;
  for (const [at, { type }] of fields.entries()) {
    const edit = edits[at];
    if (edit) found.push({ offset, edit });
    offset += fieldSize(type);
  }
  return found;
}
