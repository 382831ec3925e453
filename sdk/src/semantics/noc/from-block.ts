/** Rows of a block to transactions, one object each. */
import type { Trace } from '../../reader/index.js';
import { lowerBound } from '../blocks/block.js';
import type { NocEventName, NocNetwork } from './networks.js';
import { labelOf, nocEvent } from './payload.js';
import { type Transaction, TransactionEnd } from './transaction.js';
import {
  type TransactionBlock,
  TransactionBlockEnd,
  TransactionField,
  TransactionFlag,
  type TransactionNumbers,
  type TransactionSide,
  transactionTime,
} from './transaction-block.js';

const ENDS = {
  [TransactionBlockEnd.IN_FLIGHT]: TransactionEnd.IN_FLIGHT,
  [TransactionBlockEnd.COMPLETED]: TransactionEnd.COMPLETED,
  [TransactionBlockEnd.LOST]: TransactionEnd.LOST,
  [TransactionBlockEnd.UNKNOWN]: TransactionEnd.UNKNOWN,
} as const;

export class TransactionsOfBlock {
  private readonly network: NocNetwork;

  /** @param networks all of the trace */
  constructor(
    private readonly trace: Trace,
    private readonly networks: readonly NocNetwork[],
    private readonly block: TransactionBlock,
  ) {
    this.network = networks[block.network]!;
  }

  /** Fetches the strings that annotations name; before `at`. */
  load(): Promise<void> {
    return this.trace.strings.load(new Set(this.block.annotations.string));
  }

  at(row: number): Transaction {
    const { block, network } = this;
    const flags = block.flags[row];
    const { beats, retries, timeouts, arbitrations, annotations, handoffs } = block;
    const opcode = this.field(row, TransactionField.OPCODE, block.opcode);
    const hasAddress = (block.known[row] & TransactionField.ADDR) !== 0;
    const end = ENDS[(flags & TransactionFlag.END_MASK) as keyof typeof ENDS];
    return {
      network: network.name,
      id: block.id[row],
      opcode: opcode === null ? null : (network.transactions?.opcodeLabel(opcode) ?? null),
      addr: hasAddress ? joined(block.addrHi[row], block.addrLo[row]) : null,
      len: this.field(row, TransactionField.LEN, block.len),
      size: this.field(row, TransactionField.SIZE, block.size),
      srcPort: this.field(row, TransactionField.SRC_PORT, block.srcPort),
      dstPort: this.field(row, TransactionField.DST_PORT, block.dstPort),
      birthPs: flags & TransactionFlag.BIRTH_UNKNOWN ? null : transactionTime(block, block.birth[row]),
      stages: this.stages(row),
      beats: this.entries(beats, row, (at) => ({ timePs: this.when(beats, at), beat: numberAt(beats, at) })),
      retries: this.entries(retries, row, (at) => ({
        timePs: this.when(retries, at),
        reason: retries.reason[at] < 0 ? null : this.label('retry', undefined, retries.reason[at]),
      })),
      timeouts: this.entries(timeouts, row, (at) => this.when(timeouts, at)),
      arbitrations: this.entries(arbitrations, row, (at) => ({
        timePs: this.when(arbitrations, at),
        port: numberAt(arbitrations, at),
      })),
      annotations: this.entries(annotations, row, (at) => ({
        timePs: this.when(annotations, at),
        text: this.trace.strings.peek(annotations.string[at]) ?? `#${annotations.string[at]}`,
      })),
      handoffs: this.entries(handoffs, row, (at) => ({
        timePs: this.when(handoffs, at),
        direction: handoffs.isTo[at] ? 'to' : 'from',
        network: this.networks[handoffs.network[at]]?.name ?? null,
        id: handoffs.id[at],
        birthPs: handoffs.birth[at] < 0 ? null : transactionTime(block, handoffs.birth[at]),
      })),
      end,
      endPs: block.end[row] < 0 ? null : transactionTime(block, block.end[row]),
      isAbridged: (flags & TransactionFlag.ABRIDGED) !== 0,
    };
  }

  private stages(row: number): Transaction['stages'] {
    const { stages } = this.block;
    return this.entries(stages, row, (at) => {
      const stage = stages.stage[at];
      const name = this.network.stages[stage] ?? this.label('stage_transition', 'stage', stages.value[at]);
      return { stage, name, timePs: this.when(stages, at) };
    });
  }

  private label(event: NocEventName, field: string | undefined, value: number): string {
    const found = this.network.events.get(event);
    return labelOf((found && nocEvent(found, field).value?.labels) ?? null, value);
  }

  private field(row: number, mask: number, column: ArrayLike<number>): number | null {
    return this.block.known[row] & mask ? column[row] : null;
  }

  private when({ time }: TransactionSide, at: number): bigint {
    return transactionTime(this.block, time[at]);
  }

  private entries<T>({ row: rows }: TransactionSide, row: number, make: (at: number) => T): T[] {
    const made: T[] = [];
    for (let at = lowerBound(rows, row); rows[at] === row; at++) made.push(make(at));
    return made;
  }
}

function numberAt({ isKnown, hi, lo }: TransactionNumbers, at: number): bigint | null {
  return isKnown[at] ? joined(hi[at], lo[at]) : null;
}

function joined(hi: number, lo: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}
