/** Transactions of networks in a stretch of time, as arrays that travel between workers. Cycles are those of the axis. */
export interface TransactionList {
  /** Names of the networks that follow transactions. */
  readonly networks: readonly { readonly name: string; readonly stages: readonly string[] }[];
  /** In order of birth within a network. */
  readonly network: Uint8Array;
  readonly id: Uint32Array;
  /** -1: the trace does not say. */
  readonly port: Int32Array;
  /** NaN: before what was looked at. */
  readonly birth: Float64Array;
  /** NaN: in flight as far as was looked. */
  readonly end: Float64Array;
  readonly isLost: Uint8Array;
  /** Index of the transaction as which it continues in another network; -1: none, or not in this stretch. */
  readonly continuesAs: Int32Array;
  /** Where the stages of each begin in the two arrays below; one more than transactions. */
  readonly stageStart: Uint32Array;
  /** Index into the network's stages; 255: none of them. */
  readonly stage: Uint8Array;
  readonly stageCycle: Float64Array;
  /** What it is, short: opcode and address. */
  readonly labels: readonly string[];
  /** Everything that is known of each, line by line. */
  readonly details: readonly (readonly string[])[];
}

export interface TransactionArgs {
  readonly from: number;
  readonly to: number;
}

export interface TransactionAnswer {
  readonly args: TransactionArgs;
  /** null: more than `MAX_TRANSACTIONS`. */
  readonly list: TransactionList | null;
}

export const MAX_TRANSACTIONS = 3000;
/** Longer windows show how many are in flight. */
export const MAX_TRANSACTION_CYCLES = 65_536;

/** Transactions of one network and port, in rows in which none overlaps another. */
export interface TransactionLane {
  readonly network: number;
  readonly port: number;
  readonly name: string;
  readonly rows: readonly (readonly number[])[];
}

/** Lanes in the order of networks and ports. A transaction takes the first row that is free at its birth. */
export function lanesOf(list: TransactionList): TransactionLane[] {
  const lanes = new Map<
    string,
    { network: number; port: number; rows: { items: number[]; until: number }[] }
  >();
  for (let index = 0; index < list.network.length; index++) {
    const [network, port] = [list.network[index]!, list.port[index]!];
    const key = `${network} ${port}`;
    const lane = lanes.get(key) ?? { network, port, rows: [] };
    lanes.set(key, lane);
    const birth = list.birth[index]!;
    const begin = Number.isNaN(birth) ? Number.NEGATIVE_INFINITY : birth;
    const end = list.end[index]!;
    let row = lane.rows.find(({ until }) => until <= begin);
    if (!row) {
      row = { items: [], until: 0 };
      lane.rows.push(row);
    }
    row.items.push(index);
    row.until = Number.isNaN(end) ? Number.POSITIVE_INFINITY : end;
  }
  return [...lanes.values()]
    .sort((a, b) => a.network - b.network || a.port - b.port)
    .map(({ network, port, rows }) => ({
      network,
      port,
      name: `${list.networks[network]!.name}${port < 0 ? '' : ` port ${port}`}`,
      rows: rows.map(({ items }) => items),
    }));
}
