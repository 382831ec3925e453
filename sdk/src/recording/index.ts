/** Transaction recording: what to record, and backends that do it as FTR or µScope. */
export { FtrPhase, FtrType } from '../formats/ftr/index.js';
export {
  type Attributes,
  type DeclaredAttribute,
  type GeneratorOptions,
  type Recordable,
  type RecordedAttribute,
  type RecordingBackend,
  TxDatabase,
  TxFiber,
  TxGenerator,
  TxHandle,
  type TypedValue,
  tx,
} from './frontend.js';
export { FtrBackend } from './ftr-backend.js';
export { addTransactionScope, RECORDING_SCOPE, transactionSchema } from './schema.js';
export { type EventSink, TransactionEvents, UscopeBackend } from './uscope-backend.js';
