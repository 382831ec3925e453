/** What the recorders of one conversion share: the signals' values, the writer, and the frame of the present clock edge. */

import type { TraceWriter } from '../../../writer/index.js';
import type { FieldValue } from '../../../writer/records/values.js';
import type { ConversionReport, Tally } from '../../common/report.js';
import type { SignalStore } from '../read/signal-store.js';
import { Probe } from './probe.js';

/** A part of a signal that is followed. */
export interface FollowedPart {
  /** Index in the store. */
  readonly signal: number;
  readonly from: number;
  readonly width: number;
  readonly kind: 'bits' | 'real' | 'text';
  readonly path: string;
}

/** Records what one entry of the map says. */
export interface Recorder {
  /** The clock rises; all values are those before it. `isReset`: the reset of the scope is active. */
  edge(isReset: boolean): void;
  /** The waveform was switched off, or has ended: what is open ends. */
  gap?(): void;
}

export type RecorderFactory = (run: Run) => Recorder;

export class Run {
  timePs: number | bigint = 0;
  /** Transactions of all channels are numbered together. */
  nextTransaction = 1;
  private isOpen = false;
  private readonly tallies = new Map<string, Tally>();
  readonly unknown: Tally;

  constructor(
    readonly store: SignalStore,
    readonly writer: TraceWriter,
    readonly report: ConversionReport,
  ) {
    this.unknown = report.approximated('values with bits that are x or z', 'those bits are 0');
  }

  probe({ signal, from, width }: FollowedPart): Probe {
    return new Probe(this.store, signal, from, width);
  }

  /** The frame of the edge is open after it. */
  open(): TraceWriter {
    if (!this.isOpen) {
      this.writer.beginCycle(this.timePs);
      this.isOpen = true;
    }
    return this.writer;
  }

  /** The edge is over. False: the disk lags. */
  close(): boolean {
    if (!this.isOpen) return true;
    this.isOpen = false;
    return this.writer.endCycle();
  }

  set(storage: number, slot: number, field: number, value: FieldValue): void {
    this.open().slotSet(storage, slot, field, value);
  }

  kept(what: string, how: string): Tally {
    const key = `${what}\0${how}`;
    let tally = this.tallies.get(key);
    if (!tally) {
      tally = this.report.kept(what, how);
      this.tallies.set(key, tally);
    }
    return tally;
  }

  storage(path: string): number {
    return idOf(this.writer.schema.storages, this.writer, path, 'storageId');
  }

  event(path: string): number {
    return idOf(this.writer.schema.events, this.writer, path, 'eventTypeId');
  }
}

/** Scopes of a map have no scopes in them, so the names of scope and member say it. */
function idOf<K extends string>(
  defs: readonly (Readonly<Record<K, number>> & { readonly name: string; readonly scopeId: number })[],
  { schema }: TraceWriter,
  path: string,
  key: K,
): number {
  const [scope, name] = path.split('/');
  const found = defs.find((def) => def.name === name && schema.scopes[def.scopeId]?.name === scope);
  if (!found) throw new Error(`${path} is not in the schema made for it`);
  return found[key];
}
