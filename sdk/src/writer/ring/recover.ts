/** A finalized trace from the spool that a killed daemon left. The spool is only read. */
import { UscopeError } from '../../base/errors.js';
import { compressionOf } from '../../format/header.js';
import { type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { SegmentIndexerFactory } from '../contract/segment-indexer.js';
import type { SummarizerFactory } from '../frames/summarizer.js';
import { type OpenOutput, openNodeOutput } from '../output/output-file.js';
import { assemble } from './assembly.js';
import { stringsPath } from './layout.js';
import { type ClientRecords, type Makers, recoverWithRecords, type TakenRecords } from './recover-records.js';
import { readSpool, readSpoolHeader, type SpoolContent, type SpoolHeader } from './spool-content.js';
import { SpoolFiles } from './spool-files.js';
import { StringFile, stringsOf } from './string-file.js';

export interface SpoolRecovery {
  /** Of the client whose trace it is. */
  readonly session: SessionInfo;
  readonly segments: number;
  readonly frames: bigint;
  /** Those of them that the client had not sent. */
  readonly framesFromMemory: number;
  /** Why what the client had not sent could not be used, or not all of it. */
  readonly memoryProblem: string | null;
  /** Ordinal of the first frame in the output: those before it were let go, or are damaged. */
  readonly firstFrame: bigint;
  readonly firstTimePs: bigint;
  readonly endTimePs: bigint;
  readonly bytes: number;
  /** Segments that were durable and cannot be read; what is older than the last of them is not in the output. */
  readonly damaged: number;
  /** Files of segments that were never acknowledged as durable. */
  readonly torn: number;
  /** The checksum of the spool's header does not hold: names, types and the session may be wrong. */
  readonly isDoubtful: boolean;
}

/**
 * @param output must not exist
 * @param client what the client of the session has not sent, if it is there and may be used
 * @throws UscopeError RECOVER_NOTHING, WRITER_*
 */
export async function recoverSpool(
  directory: string,
  output: string,
  summarizer: SummarizerFactory,
  index: SegmentIndexerFactory | null = null,
  openOutput: OpenOutput = openNodeOutput,
  client: (session: SessionInfo) => ClientRecords | null = () => null,
): Promise<SpoolRecovery> {
  const files = new SpoolFiles(directory, openOutput);
  const found = await readSpoolHeader(files);
  const content = found && (await readSpool(files));
  const records = found && client(found.session);
  const usable = found?.check.damaged.length === 0 ? records : null;
  if (!found || !content || (content.entries.length === 0 && usable === null)) {
    const detail = 'no spool of a flight recorder with at least one complete segment';
    throw new UscopeError('RECOVER_NOTHING', detail, { file: directory });
  }
  const makers = { summarizer, index, openOutput };
  if (usable === null) {
    const problem = records && 'the header of the spool is damaged: its records may mean something else';
    return recoverSegments(files, output, makers, found, content, problem);
  }
  return taken(content, found, await recoverWithRecords(directory, output, found, usable, makers));
}

const isFromDoubtful = ({ check }: SpoolHeader): boolean =>
  check.damaged.length > 0 || check.checksums?.isFromDamaged === true;

function taken(content: SpoolContent, found: SpoolHeader, records: TakenRecords): SpoolRecovery {
  const { stats, framesFromMemory, problem } = records;
  const { firstFrame = 0n, frames, segments, bytes, ring, totalTimePs } = stats;
  return {
    session: found.session,
    segments,
    frames: frames - firstFrame,
    framesFromMemory,
    memoryProblem: problem,
    firstFrame,
    firstTimePs: ring.firstTimePs,
    endTimePs: totalTimePs + 1n,
    bytes: Number(bytes),
    isDoubtful: isFromDoubtful(found),
    damaged: content.damaged.length,
    torn: tornIn(content),
  };
}

function tornIn({ entries, dropped }: SpoolContent): number {
  const last = entries[entries.length - 1]?.ordinal ?? -1;
  return dropped.filter((ordinal) => ordinal > last).length;
}

/** What is in the spool alone. */
async function recoverSegments(
  files: SpoolFiles,
  output: string,
  { summarizer, index }: Makers,
  found: SpoolHeader,
  content: SpoolContent,
  memoryProblem: string | null,
): Promise<SpoolRecovery> {
  const { directory, openOutput } = files;
  const { entries, damaged } = content;
  const isDoubtful = isFromDoubtful(found);
  const { schema, dut, checkpointIntervalPs } = found.preamble;
  const hasStrings = (await files.names()).includes('strings');
  const strings = hasStrings
    ? await StringFile.read(await openOutput(stringsPath(directory), 'resume'))
    : null;
  try {
    const bytes = await assemble(
      {
        schema,
        dut,
        checkpointIntervalPs,
        compression: compressionOf(found.header.flags),
        segments: entries,
        read: (ordinal) => files.readSegment(ordinal),
        strings: () => stringsOf(files, strings, entries),
      },
      {
        path: output,
        openOutput,
        session: { ...found.session, status: SessionStatus.RECOVERED, endTimeMs: BigInt(Date.now()) },
        summarizer,
        index,
        isFromDamaged: isDoubtful,
      },
    );
    const frames = entries.reduce((sum, { numFrames }) => sum + BigInt(numFrames), 0n);
    return {
      session: found.session,
      segments: entries.length,
      frames,
      framesFromMemory: 0,
      memoryProblem,
      firstFrame: entries[entries.length - 1].nextFrame - frames,
      firstTimePs: entries[0].timeStartPs,
      endTimePs: entries[entries.length - 1].timeEndPs,
      bytes,
      isDoubtful,
      damaged: damaged.length,
      torn: tornIn(content),
    };
  } finally {
    await strings?.close();
  }
}
