/** A lane for each port of the networks: the transactions that began there. */
import { lanesOf, type TransactionLane, type TransactionList } from '../model/transactions.js';
import type { Lane } from './lane.js';
import { drawTransactions, ROW_HEIGHT, transactionAt } from './transaction-lane.js';

export const transactionLanes = (list: TransactionList): Lane[] =>
  lanesOf(list).map((lane) => laneOf(list, lane));

function laneOf(list: TransactionList, lane: TransactionLane): Lane {
  return {
    key: `${lane.network} ${lane.port}`,
    name: lane.name,
    height: Math.max(1, lane.rows.length) * ROW_HEIGHT + 4,
    draw: (canvas, box) => drawTransactions(canvas, box, list, lane),
    valueAt: (cycle) => {
      const count = lane.rows
        .flat()
        .filter((index) => !(list.birth[index]! > cycle) && !(list.end[index]! <= cycle)).length;
      return count === 0 ? '' : String(count);
    },
    describe: (cycle, slack, y) => {
      const index = transactionAt(list, lane, cycle, slack, y);
      return index === null ? [] : list.details[index]!;
    },
  };
}
