/**
 * `channels`: `NAME: {valid: CONDITION, ready: CONDITION, fields: {addr: SIGNAL}}` become transactions (docs/how-to/transactions.md): each begins when
 * it is offered and ends when it is accepted, with the fields as they are then.
 */

import { joinPieces } from '../../../format/wide-fields.js';
import type { TraceWriter } from '../../../writer/index.js';
import { FtrType } from '../../common/recording.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';
import type { FollowedPart, Run } from '../sampling/run.js';
import { TRANSACTION_SCOPE } from '../sampling/transaction-plan.js';

const PHASE_END = 2;

export function planChannel(scope: PlanScope, entry: EntryReader): void {
  const keys = entry.fixedKeys(['valid', 'ready', 'fields']);
  const valid = scope.condition(entry.needed(keys, 'valid', 'valid: CONDITION'));
  const readyText = entry.text(keys, 'ready');
  const ready = readyText === undefined ? () => () => true : scope.condition(readyText);
  const fields = entry.pairs(keys, 'fields').map(([name, signal]) => ({ name, part: scope.follow(signal) }));
  const { transactions } = scope;
  const stream = 2 * transactions.streams.length + 1;
  transactions.streams.push(`${scope.name}.${entry.name}`);
  scope.recorders.push((run) => {
    const [isValid, isReady] = [valid(run), ready(run)];
    const attributes = fields.map(({ name, part }) => ({ name, write: attributeWriter(run, name, part) }));
    const events = {
      begin: run.event(`${TRANSACTION_SCOPE}/begin`),
      end: run.event(`${TRANSACTION_SCOPE}/end`),
    };
    const tally = run.kept('transfers of channels', 'transactions');
    const withdrawn = run.report.approximated(
      'offers that were withdrawn',
      'a transaction that ends without a transfer',
    );
    let open = -1;
    const end = (writer: TraceWriter): void => {
      writer.event(events.end, [open, run.timePs]);
      open = -1;
    };
    const begin = (): void => {
      open = run.nextTransaction++;
      run.open().event(events.begin, [open, stream, stream + 1, run.timePs]);
    };
    return {
      edge(isReset) {
        const offered = !isReset && isValid();
        if (!offered) {
          if (open >= 0) {
            withdrawn.count++;
            end(run.open());
          }
          return;
        }
        if (open < 0) begin();
        if (!isReady()) return;
        for (const { write } of attributes) write(open);
        end(run.open());
        tally.count++;
      },
      gap() {
        if (open < 0) return;
        withdrawn.count++;
        end(run.open());
      },
    };
  });
}

/** Up to 64 bits are UNSIGNED; wider ones and those with unknown bits are text: LOGIC_VECTOR. */
function attributeWriter(run: Run, name: string, part: FollowedPart): (tx: number) => void {
  const event = run.event(`${TRANSACTION_SCOPE}/attr`);
  if (part.kind !== 'bits') {
    const { others } = run.store;
    return (tx) =>
      run.open().event(event, [tx, 0, PHASE_END, name, FtrType.STRING, 0, String(others[part.signal])]);
  }
  const pieces = Array.from({ length: Math.ceil(part.width / 64) }, (_, k) =>
    run.probe({ ...part, from: part.from + 64 * k, width: Math.min(64, part.width - 64 * k) }),
  );
  const bits = Array.from({ length: part.width }, (_, bit) =>
    run.probe({ ...part, from: part.from + bit, width: 1 }),
  );
  return (tx) => {
    if (part.width <= 64 && !pieces[0].isUnknown()) {
      run.open().event(event, [tx, 0, PHASE_END, name, FtrType.UNSIGNED, pieces[0].value(), '']);
      return;
    }
    const isKnown = pieces.every((piece) => !piece.isUnknown());
    const text = isKnown
      ? joinPieces(pieces.map((piece) => BigInt(piece.value())))
          .toString(2)
          .padStart(part.width, '0')
      : bits
          .map((bit) => (bit.isUnknown() ? 'X' : bit.isSet() ? '1' : '0'))
          .reverse()
          .join('');
    run.open().event(event, [tx, 0, PHASE_END, name, FtrType.LOGIC_VECTOR, 0, text]);
  };
}
