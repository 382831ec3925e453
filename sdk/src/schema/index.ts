/** Schema authoring: YAML/JSON text and a builder -> checked schema, and back to text. */
export {
  type Fields,
  type PropertySpec,
  SchemaBuilder,
  type ScopeBuilder,
  type ScopeSpec,
  type StorageSpec,
  type TypeName,
} from './builder.js';
export { canonicalSchema } from './canonical.js';
export { clockOfScope } from './clock.js';
export {
  CONTROL_ACTIONS,
  CONTROL_EVENT,
  CONTROL_SCOPE,
  controlEventOf,
  withControlEvent,
} from './control.js';
export {
  checkSchema,
  type ParsedSchema,
  type ParseOptions,
  parseSchema,
  parseUnboundSchema,
  type UnboundSchema,
} from './parse.js';
export { parsePeriod } from './period.js';
export { schemaToText } from './to-text.js';
export type { BuiltinTypeName, RoleName, StorageKind } from './types.js';
export { validateSchema } from './validate.js';
export { SchemaWork, WORK_LIMITS, type WorkLimits } from './work.js';
