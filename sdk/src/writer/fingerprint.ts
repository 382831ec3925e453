/** The identity of a schema that generated code carries, and what differs between it and another schema. */
import { createHash } from 'node:crypto';
import { crc32 } from '../base/crc32.js';
import { UscopeError } from '../base/errors.js';
import { encodeUtf8 } from '../base/utf8.js';
import { type FieldDef, FieldType, qualifiedName, type Schema, scopePath } from '../format/types.js';
import { canonicalSchema } from '../schema/canonical.js';
import { type ParseOptions, parseUnboundSchema } from '../schema/parse.js';

/** Generated code stays readable, and so does the message: schemas with more definitions are compared as a whole. */
const MAX_DEFINITIONS = 400;
const NAMED = 5;
const SHA256 = /^([0-9a-f]{64})(?:-((?:[0-9a-f]{6})+))?$/i;
/** The longest fingerprint, in characters. */
export const MAX_FINGERPRINT = 65 + 6 * MAX_DEFINITIONS;

/**
 * SHA-256 of `canonicalSchema` in 64 hexadecimal digits, then `-` and six digits for each definition. A schema of more than 400 definitions has
 * the first part only.
 */
export function schemaFingerprint(schema: Schema): string {
  const digests = definitionsOf(schema).map(({ digest }) => digest);
  const parts = digests.length > 0 && digests.length <= MAX_DEFINITIONS ? `-${digests.join('')}` : '';
  return `${createHash('sha256').update(canonicalSchema(schema)).digest('hex')}${parts}`;
}

/**
 * Ids in generated code belong to one schema: with another they would write wrong data that nobody notices.
 * @param expected `schemaFingerprint` of the schema from which the code was generated
 * @throws UscopeError SCHEMA_MISMATCH, with the definitions that differ; SCHEMA_* as `parseSchema`
 */
export function checkFingerprint(
  text: string,
  expected: string,
  options: Omit<ParseOptions, 'variables'> = {},
): void {
  const { schema } = parseUnboundSchema(text, options);
  const actual = schemaFingerprint(schema);
  const [, sha256, digests] = SHA256.exec(expected) ?? [];
  if (sha256?.toLowerCase() === actual.slice(0, 64)) return;
  const differences = digests ? differencesOf(schema, digests.toLowerCase()) : 'the code does not say what';
  throw new UscopeError(
    'SCHEMA_MISMATCH',
    `this is not the schema from which the code of the client was generated (${differences}): generate it again with uscope codegen, or run with the schema that its first lines name`,
    options.file === undefined ? undefined : { file: options.file },
  );
}

function differencesOf(schema: Schema, digests: string): string {
  const theirs = new Set(digests.match(/.{6}/g));
  const ours = definitionsOf(schema);
  const news = ours.filter(({ digest }) => !theirs.has(digest)).map(({ name }) => name);
  const known = new Set(ours.map(({ digest }) => digest));
  const gone = [...theirs].filter((digest) => !known.has(digest)).length;
  const others = news.length > NAMED ? ` and ${news.length - NAMED} more` : '';
  const parts = [
    ...(news.length > 0 ? [`changed or new: ${news.slice(0, NAMED).join(', ')}${others}`] : []),
    ...(gone > 0 ? [`changed or gone: ${gone} of the code's definitions`] : []),
  ];
  return parts.join('; ') || 'the same definitions in another order';
}

interface Definition {
  readonly name: string;
  readonly digest: string;
}

/** Every definition. References are names here, not ids: a definition does not change with those before it. */
function definitionsOf(schema: Schema): Definition[] {
  const enumOf = (field: FieldDef) =>
    field.type === FieldType.ENUM ? schema.enums[field.enumId]?.name : undefined;
  const fields = (defs: readonly FieldDef[]) =>
    defs.map((f) => [f.name, f.type, enumOf(f), f.role, f.pairId]);
  const define = (kind: string, name: string, ...rest: readonly unknown[]): Definition => ({
    name: `${kind} "${name}"`,
    digest: (crc32(encodeUtf8(JSON.stringify([kind, name, ...rest]))) >>> 8).toString(16).padStart(6, '0'),
  });
  return [
    ...schema.clocks.map((def) => define('clock', def.name, def.periodPs)),
    ...schema.scopes.map((def, id) =>
      define('scope', scopePath(schema, id) || '/', def.protocol, schema.clocks[def.clockId]?.name),
    ),
    ...schema.enums.map((def) =>
      define('enum', def.name, ...def.values.map((item) => [item.value, item.name])),
    ),
    ...schema.storages.map((def) =>
      define(
        'storage',
        qualifiedName(schema, def),
        def.numSlots,
        def.flags,
        fields(def.fields),
        fields(def.properties),
      ),
    ),
    ...schema.events.map((def) => define('event', qualifiedName(schema, def), fields(def.fields))),
    ...schema.summaryFields.map((def) =>
      define('summary field', def.name, def.type, scopePath(schema, def.scopeId)),
    ),
  ];
}
