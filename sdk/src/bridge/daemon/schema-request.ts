/** The schema of an `open`: what is asked of the text, and the answer, both of which can go to another thread and back. */
import { createHash } from 'node:crypto';
import { UscopeError } from '../../base/errors.js';
import {
  type ParsedSchema,
  parseSchema,
  SchemaWork,
  schemaFingerprint,
  type WorkLimits,
  withControlEvent,
} from '../../schema/index.js';

export interface SchemaRequest {
  readonly text: string;
  readonly file: string;
  readonly variables: Readonly<Record<string, string>>;
  /** SHA-256 of the schema that the client's code was generated from. */
  readonly sha256?: string | undefined;
}

/** More work than `limits` allow: what was found out until then says nothing about the schema. */
export const TOO_MUCH = Symbol('more work than allowed');

/** The schema with what the daemon adds to each. @throws UscopeError SCHEMA_* */
export function readRequest(request: SchemaRequest): ParsedSchema {
  return answerTo(request, new SchemaWork());
}

/** As `readRequest`, as long as it is no more work than that. */
export function readWithin(request: SchemaRequest, limits: WorkLimits): ParsedSchema | typeof TOO_MUCH {
  const work = new SchemaWork(limits);
  try {
    return answerTo(request, work);
  } catch (error) {
    if (work.isExceeded) return TOO_MUCH;
    throw error;
  }
}

function answerTo({ text, file, variables, sha256 }: SchemaRequest, work: SchemaWork): ParsedSchema {
  checkFingerprint(text, file, sha256, work);
  const { schema, dut } = parseSchema(text, { file, variables, work });
  return { schema: withControlEvent(schema), dut };
}

/** Ids in generated code are those of one schema: with another they would write wrong data without a sound. */
function checkFingerprint(text: string, file: string, expected: string | undefined, work: SchemaWork): void {
  if (expected === undefined) return;
  // The text is read twice: each time is one schema's work.
  const own = new SchemaWork(work.limits);
  let canonical: string;
  try {
    canonical = schemaFingerprint(text, { file, work: own });
  } finally {
    work.isExceeded ||= own.isExceeded;
  }
  const actual = createHash('sha256').update(canonical).digest('hex');
  if (actual === expected.toLowerCase()) return;
  throw new UscopeError(
    'SCHEMA_MISMATCH',
    `this is not the schema from which the code of the client was generated: generate it again with uscope codegen, or run with the schema that its first lines name (SHA-256 ${actual} and ${expected})`,
    { file },
  );
}
