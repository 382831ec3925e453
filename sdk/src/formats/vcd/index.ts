/** Value Change Dumps as a library: a writer, independent of µScope. */
export {
  type VcdHeader,
  type VcdKind,
  type VcdScope,
  type VcdVariable,
  VcdWriter,
} from './writer.js';
