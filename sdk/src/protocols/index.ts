/** The contracts of the protocols `cpu`, `noc` and `tr` (docs/reference/protocols.md), and whether a schema keeps them. */
export {
  checkProtocol,
  findingText,
  isContradiction,
  MAX_FINDINGS,
  type ProtocolCode,
  type ProtocolFinding,
} from './check.js';
export { CPU, NOC, TR } from './definitions.js';
export { hasExactly, isReadable, unreadFields } from './fit.js';
export { membersOf, ownFirst } from './members.js';
export type { EventContract, FieldContract, Protocol, StorageContract } from './model.js';
export { fieldsOf } from './shapes.js';
