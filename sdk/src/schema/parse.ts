/** Schema text -> checked schema. The grammar is described in docs/reference/schema.md. */
import type { UscopeError } from '../base/errors.js';
import type { DutProperties, Schema } from '../format/types.js';
import { bindVariables } from './bind.js';
import { Problems } from './problems.js';
import { readSchema } from './read.js';
import { findProblems } from './validate.js';
import { SchemaWork } from './work.js';

export interface ParseOptions {
  /** Name of the file, for the places of errors. */
  readonly file?: string | undefined;
  /** Values of `${variables}`; they override the defaults in the text. Unused ones are ignored. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Counts what is done, and says how much that may be; default: `WORK_LIMITS`. */
  readonly work?: SchemaWork | undefined;
}

export interface ParsedSchema {
  readonly schema: Schema;
  readonly dut: DutProperties;
}

/** A schema with its variables still in its names, as code generators need it. */
export interface UnboundSchema extends ParsedSchema {
  /** The variables that have defaults, with them. */
  readonly variables: ReadonlyMap<string, string>;
}

/**
 * Reads a schema in YAML or JSON.
 * @throws UscopeError SCHEMA_*; code and place are those of the first problem, the message lists them all, one per line
 */
export function parseSchema(text: string, options: ParseOptions = {}): ParsedSchema {
  const problems = new Problems();
  const result = parseInto(problems, text, options);
  problems.throwIfAny();
  return result!;
}

/** Like `parseSchema`, but returns the problems instead of throwing. `result` is there exactly if `errors` is empty. */
export function checkSchema(
  text: string,
  options: ParseOptions = {},
): { errors: UscopeError[]; result?: ParsedSchema } {
  const problems = new Problems();
  const result = parseInto(problems, text, options);
  return result && problems.count === 0 ? { errors: [], result } : { errors: problems.list() };
}

/**
 * Reads a schema without binding its variables: ids are final, names may hold `${name}`.
 * @throws UscopeError SCHEMA_*, as `parseSchema`
 */
export function parseUnboundSchema(
  text: string,
  options: Omit<ParseOptions, 'variables'> = {},
): UnboundSchema {
  const problems = new Problems();
  const result = problems.collect(() => {
    const source = readSchema(text, options.file, problems, options.work ?? new SchemaWork());
    if (source) findProblems(source.schema, source.dut, problems, source.places, true);
    return source;
  });
  problems.throwIfAny();
  const { schema, dut, variables } = result!;
  return { schema, dut, variables };
}

function parseInto(problems: Problems, text: string, options: ParseOptions): ParsedSchema | undefined {
  return problems.collect(() => {
    const { file, variables = {}, work = new SchemaWork() } = options;
    const source = readSchema(text, file, problems, work);
    if (!source) return undefined;
    const bound = bindVariables(source, variables, problems, work);
    findProblems(bound.schema, bound.dut, problems, source.places);
    return bound;
  });
}
