/** The scope in which all channels of a map record their transfers (docs/how-to/transactions.md). */
import { FieldType } from '../../../format/types.js';
import type { SchemaBuilder } from '../../../schema/index.js';
import { FtrTag, PHASE_NAMES, RECORDING_PROTOCOL, ROOT_EVENTS, TYPE_NAMES } from '../../common/recording.js';
import type { Run } from './run.js';

export const TRANSACTION_SCOPE = 'tr';
const KIND = 'channel';
const ACCEPTED = 'transfer';
const WORDS: ReadonlyMap<FieldType | string, string> = new Map<FieldType | string, string>([
  [FieldType.U8, 'u8'],
  [FieldType.U16, 'u16'],
  [FieldType.U32, 'u32'],
  [FieldType.U64, 'u64'],
  [FieldType.STRING_REF, 'string'],
]);

/** The scope of all transactions of a conversion. */
export class TransactionPlan {
  /** Names of the channels: a stream and its generator each. */
  readonly streams: string[] = [];

  addScope(builder: SchemaBuilder, clock: string): void {
    if (this.streams.length === 0) return;
    builder.enum('ftr_phase', PHASE_NAMES).enum('ftr_type', TYPE_NAMES);
    const scope = builder.scope(TRANSACTION_SCOPE, { protocol: RECORDING_PROTOCOL, clock });
    for (const [event, fields] of Object.entries(ROOT_EVENTS)) {
      scope.event(
        event,
        Object.fromEntries(fields.map(([field, type]) => [field, WORDS.get(type) ?? String(type)])),
      );
    }
  }

  /** Streams and generators are declared before the first transaction. */
  declare(run: Run): void {
    this.streams.forEach((name, index) => {
      const stream = 2 * index + 1;
      run.open().event(`${TRANSACTION_SCOPE}/dir`, [FtrTag.STREAM, stream, name, 0, KIND]);
      run.open().event(`${TRANSACTION_SCOPE}/dir`, [FtrTag.GENERATOR, stream + 1, ACCEPTED, stream, '']);
    });
  }
}
