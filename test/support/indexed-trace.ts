/** Traces with an index, as a writer leaves them: a container behind each commit record, and a directory at the end. */
import { crc32 } from '../../sdk/src/base/crc32.js';
import { FrameCursor } from '../../sdk/src/format/frame.js';
import {
  decodeIndexContainer,
  encodeIndexContainer,
  type IndexContainer,
} from '../../sdk/src/format/index-container.js';
import { DIRECTORY_SECTION } from '../../sdk/src/trace-index/directory/format.js';
import { type DirectoryInput, writeDirectory } from '../../sdk/src/trace-index/directory/write-directory.js';
import { type Carry, FIRST } from '../../sdk/src/trace-index/pass/index-pass.js';
import { indexPlan } from '../../sdk/src/trace-index/plan.js';
import { oraclePass } from '../oracle/index/index-pass.js';
import { type SegmentSpec, TraceBuilder, type TraceSpec } from './build-trace.js';

export interface IndexedSpec extends TraceSpec {
  readonly segments: readonly SegmentSpec[];
  /** Default: with a directory. */
  readonly state?: 'finalized' | 'without-directory' | 'open';
  /** Changes a container before it is written; null leaves it out. */
  readonly container?: (container: IndexContainer, segment: number) => IndexContainer | null;
  /** Changes the bytes of the directory. */
  readonly directory?: ((bytes: Uint8Array) => Uint8Array) | undefined;
  readonly maxBytes?: number;
}

export interface IndexedTrace {
  readonly bytes: Uint8Array;
  /** File offsets; 0: left out. */
  readonly containers: readonly number[];
  readonly directory: number;
}

export async function indexedTrace(spec: IndexedSpec): Promise<IndexedTrace> {
  const builder = new TraceBuilder(spec);
  const plan = indexPlan(spec.schema, spec.dut ?? []);
  const containers: number[] = [];
  let carry: Carry = FIRST;
  for (const [index, segment] of spec.segments.entries()) {
    let size = 0;
    builder.segment({
      ...segment,
      index: ({ offset, timeStartPs, checkpoint, frames }) => {
        const cursor = () => new FrameCursor(frames, timeStartPs, true);
        const header = { timeStartPs };
        const result = oraclePass(plan, { header, checkpoint, deltas: frames, cursor }, carry);
        carry = result.carry;
        const made = { segmentOffset: BigInt(offset), planCrc: plan.crc, parts: result.parts };
        const container = spec.container ? spec.container(made, index) : made;
        const bytes = container && encodeIndexContainer(container);
        size = bytes?.length ?? 0;
        return bytes;
      },
    });
    // It is at the end of the commit record.
    containers.push(size > 0 ? builder.bytes.length - size : 0);
  }
  const { state = 'finalized' } = spec;
  if (state === 'open') return { bytes: builder.bytes, containers, directory: 0 };
  const file = builder.bytes;
  const input: DirectoryInput = {
    plan,
    segments: containers.length,
    startPs: spec.segments[0]?.start ?? 0n,
    endPs: spec.segments.at(-1)?.frames?.at(-1)?.timePs ?? 0n,
    maxBytes: () => spec.maxBytes ?? Number.POSITIVE_INFINITY,
    crc32,
    container: async (segment) => {
      const offset = containers[segment]!;
      const found = offset === 0 ? null : decodeIndexContainer(file.subarray(offset));
      if (!found) return null;
      const size = new DataView(file.buffer, file.byteOffset + offset).getUint32(4, true);
      return { offset, size, parts: found.parts };
    },
  };
  let directory = 0;
  const directoryBytes = await directoryOf(input);
  const sections = [
    {
      type: DIRECTORY_SECTION,
      bytes: (offset: number) => {
        directory = offset;
        return spec.directory ? spec.directory(directoryBytes) : directoryBytes;
      },
    },
  ];
  const { bytes } = builder.finalize(state === 'finalized' ? { sections } : {});
  return { bytes, containers, directory };
}

/** The bytes of a directory. */
export async function directoryOf(input: DirectoryInput): Promise<Uint8Array> {
  let bytes = new Uint8Array(0);
  await writeDirectory(input, {
    get position() {
      return bytes.length;
    },
    append: async (more) => {
      bytes = new Uint8Array(Buffer.concat([bytes, more]));
    },
  });
  return bytes;
}
