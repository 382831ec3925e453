/** The schema of an `open`: what is asked of the text, and the answer, both of which can go to another thread and back. */
import {
  type ParsedSchema,
  parseSchema,
  SchemaWork,
  type WorkLimits,
  withControlEvent,
} from '../../schema/index.js';
import { checkFingerprint } from '../../writer/fingerprint.js';

export interface SchemaRequest {
  readonly text: string;
  readonly file: string;
  readonly variables: Readonly<Record<string, string>>;
  /** `schemaFingerprint` of the schema that the client's code was generated from. */
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
  if (sha256 !== undefined) checkCode(text, file, sha256, work);
  const { schema, dut } = parseSchema(text, { file, variables, work });
  return { schema: withControlEvent(schema), dut };
}

/** The text is read once more: each time is one schema's work. */
function checkCode(text: string, file: string, expected: string, work: SchemaWork): void {
  const own = new SchemaWork(work.limits);
  try {
    checkFingerprint(text, expected, { file, work: own });
  } finally {
    work.isExceeded ||= own.isExceeded;
  }
}
