/** What threads are asked, by kind, and how they answer. Parameters and answers are plain data. */
import type { DutProperties, Schema } from '../format/types.js';
import type { Trace } from '../reader/index.js';
import {
  type CounterOptions,
  type CounterReport,
  counters,
  findCore,
  type OccupancyOptions,
  type OccupancyReport,
  occupancy,
} from '../semantics/cpu/index.js';
import { STRETCH_WORK } from '../semantics/stretch-work.js';
import { type StateColumns, stateColumns } from './state-columns.js';
import type { Movable } from './thread.js';

/** What a trace says of itself. */
export interface TraceInfo {
  readonly version: string;
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly segments: number;
  readonly totalTimePs: bigint;
  readonly isComplete: boolean;
}

/** How far a trace is written. */
export interface TraceExtent {
  readonly segments: number;
  readonly totalTimePs: bigint;
  readonly isComplete: boolean;
}

type Named<T extends { readonly core?: unknown }> = Omit<T, 'core' | 'progress' | 'stretches' | 'signal'> & {
  /** Name of the core, as `findCore` takes it. */
  readonly core?: string | undefined;
};

/** By kind: what is asked and what is answered. */
export interface RequestTypes {
  info: { params: null; answer: TraceInfo };
  poll: { params: null; answer: TraceExtent };
  /** `storages`: ids; default: all. */
  state: {
    params: { readonly timePs: bigint; readonly storages?: readonly number[] };
    answer: StateColumns;
  };
  counters: { params: Named<CounterOptions>; answer: CounterReport[] };
  occupancy: { params: Named<OccupancyOptions>; answer: OccupancyReport[] };
  stretch: { params: { readonly kind: string; readonly work: unknown }; answer: unknown };
}

export type RequestKind = keyof RequestTypes;

export interface RequestCall {
  readonly signal: AbortSignal;
  progress(fraction: number): void;
  /** To be awaited between slices of work: lets messages in, and requests of higher priority pass. Throws when the request is cancelled. */
  pause(): Promise<void>;
}

type Handlers = {
  readonly [K in RequestKind]: (
    trace: Trace,
    params: RequestTypes[K]['params'],
    call: RequestCall,
  ) => Promise<RequestTypes[K]['answer']>;
};

export const REQUESTS: Handlers = {
  info: async (trace) => {
    const { version, schema, dut } = trace;
    return { version, schema, dut, ...extentOf(trace) };
  },
  poll: async (trace) => {
    await trace.poll();
    return extentOf(trace);
  },
  state: async (trace, { timePs, storages }) => stateColumns(await trace.stateAt(timePs), storages),
  counters: (trace, params, call) => counters(trace, { ...withCore(trace, params), ...call }),
  occupancy: (trace, params, call) => occupancy(trace, { ...withCore(trace, params), ...call }),
  stretch: (trace, { kind, work }, call) => STRETCH_WORK[kind](trace, work, call),
};

/** Kinds whose answers are kept: what they are about does not change once it is written. */
export const KEPT: ReadonlySet<string> = new Set<RequestKind>(['state', 'counters', 'occupancy']);

export function extentOf({ segmentCount, totalTimePs, isComplete }: Trace): TraceExtent {
  return { segments: segmentCount, totalTimePs, isComplete };
}

function withCore<T extends { readonly core?: string | undefined }>(trace: Trace, { core, ...rest }: T) {
  return { ...rest, ...(core === undefined ? {} : { core: findCore(trace, core) }) };
}

/** The buffers of the arrays in an answer: they are moved, unless somebody else uses them too. */
export function buffersIn(value: unknown, found = new Set<Movable>()): Set<Movable> {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteLength } = value;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) found.add(buffer);
  } else if (value instanceof ArrayBuffer) found.add(value);
  else if (Array.isArray(value)) for (const one of value) buffersIn(one, found);
  else if (value instanceof Map) for (const one of value.values()) buffersIn(one, found);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) buffersIn(one, found);
  return found;
}
