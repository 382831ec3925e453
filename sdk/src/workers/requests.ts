/** What threads are asked, by kind, and how they answer. Parameters and answers are plain data. */
import type { DutProperties, Schema } from '../format/types.js';
import type { Trace } from '../reader/index.js';
import { type StateColumns, stateColumns } from '../reader/state-columns.js';
import type { InstructionBlock } from '../semantics/blocks/block.js';
import { blockOf, instructionBlocks } from '../semantics/blocks/instruction-blocks.js';
import {
  analyzePerformance,
  type CoreRange,
  findCore,
  type PerformanceOptions,
  type PerformanceReport,
} from '../semantics/cpu/index.js';
import { type Found, find, type PatternOptions } from '../semantics/search/index.js';
import type { CounterOptions, CounterReport } from '../semantics/storages/counter-work.js';
import { counters } from '../semantics/storages/counters.js';
import { type OccupancyOptions, type OccupancyReport, occupancy } from '../semantics/storages/occupancy.js';
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

type Named<T extends { readonly core?: unknown }> = Omit<T, 'core' | 'progress' | 'signal' | 'pause'> & {
  /** Name of the core, as `findCore` takes it. */
  readonly core?: string | undefined;
};

/** Keyed by kind: what is asked and what is answered. */
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
  performance: {
    params: Omit<PerformanceOptions, 'onProgress' | 'signal' | 'pause'>;
    answer: PerformanceReport;
  };
  /** The instructions born in a segment; see `blockOf`. */
  block: {
    params: {
      readonly core: string;
      readonly segment: number;
      readonly lookback?: number;
      readonly lookahead?: number;
    };
    answer: InstructionBlock;
  };
  /** Those in flight at some time of a range; see `instructionBlocks`. */
  blocks: { params: { readonly core: string } & CoreRange; answer: InstructionBlock[] };
  find: { params: FindParams; answer: FindAnswer };
}

/** See `find`. */
export interface FindParams extends PatternOptions {
  readonly pattern: string;
  readonly from?: bigint | undefined;
  readonly to?: bigint | undefined;
  /** Names of cores; default: all. */
  readonly cores?: readonly string[] | undefined;
  /** Most matches that the answer lists; the others are counted. Default 10,000. */
  readonly limit?: number | undefined;
}

export interface FindAnswer {
  readonly found: readonly Found[];
  /** All matches. */
  readonly count: number;
}

const DEFAULT_FOUND = 10_000;

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
  performance: (trace, params, { progress, ...call }) =>
    analyzePerformance(trace, { ...params, ...call, onProgress: progress }),
  block: async (trace, { core, segment, ...options }, { signal }) =>
    blockOf(trace, findCore(trace, core), segment, { ...options, signal }),
  blocks: async (trace, { core, ...range }, { signal, pause }) => {
    const blocks: InstructionBlock[] = [];
    for await (const block of instructionBlocks(trace, findCore(trace, core), range, { signal })) {
      blocks.push(block);
      await pause();
    }
    return blocks;
  },
  find: async (trace, { pattern, cores, limit = DEFAULT_FOUND, ...options }, call) => {
    const answer: { found: Found[]; count: number } = { found: [], count: 0 };
    const named = cores?.map((name) => findCore(trace, name));
    for await (const found of find(trace, pattern, { ...options, cores: named, ...call })) {
      answer.count += found.length;
      for (const one of found) if (answer.found.length < limit) answer.found.push(one);
    }
    return answer;
  },
};

/** Kinds whose answers are kept: what they are about does not change once it is written. */
export const KEPT: ReadonlySet<string> = new Set<RequestKind>([
  'state',
  'counters',
  'occupancy',
  'performance',
  'block',
  'blocks',
  'find',
]);

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
