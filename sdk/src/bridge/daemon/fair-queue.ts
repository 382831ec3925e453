/** What waits for one thing that all peers share: each process has its turn, and in it each of its connections. */

/** Who waits. */
export interface Peer {
  /** The process, where it is known; peers that are not known share one. */
  readonly process: string;
  readonly connection: string;
}

type Lines<T> = Map<string, T[]>;

export class FairQueue<T> {
  /** By process, then by connection; the ones that had their turn last come last. */
  private readonly processes = new Map<string, Lines<T>>();

  /** Entries of one connection that wait. */
  waiting({ process, connection }: Peer): number {
    return this.processes.get(process)?.get(connection)?.length ?? 0;
  }

  add({ process, connection }: Peer, item: T): void {
    const lines = this.processes.get(process) ?? new Map<string, T[]>();
    this.processes.set(process, lines);
    const line = lines.get(connection);
    if (line) line.push(item);
    else lines.set(connection, [item]);
  }

  next(): T | undefined {
    const [process, lines] = this.processes.entries().next().value ?? [];
    if (process === undefined || !lines) return undefined;
    const [connection, line] = lines.entries().next().value as [string, T[]];
    const item = line.shift() as T;
    rotate(lines, connection, line, line.length === 0);
    rotate(this.processes, process, lines, lines.size === 0);
    return item;
  }

  clear(): T[] {
    const all: T[] = [];
    for (let item = this.next(); item !== undefined; item = this.next()) all.push(item);
    return all;
  }
}

/** To the end, or out. */
function rotate<K, V>(map: Map<K, V>, key: K, value: V, isOver: boolean): void {
  map.delete(key);
  if (!isOver) map.set(key, value);
}
