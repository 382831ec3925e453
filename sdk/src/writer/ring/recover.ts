/** A finalized trace from the spool that a killed daemon left. The spool is only read. */
import { UscopeError } from '../../base/errors.js';
import { compressionOf } from '../../format/header.js';
import { type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { SegmentIndexerFactory } from '../contract/segment-indexer.js';
import type { SummarizerFactory } from '../frames/summarizer.js';
import { type OpenOutput, openNodeOutput } from '../output/output-file.js';
import { assemble } from './assembly.js';
import { stringsPath } from './layout.js';
import { readSpool, readSpoolHeader } from './spool-content.js';
import { SpoolFiles } from './spool-files.js';
import { stringsOf } from './spool-strings.js';
import { StringFile } from './string-file.js';

export interface SpoolRecovery {
  /** Of the client whose trace it is. */
  readonly session: SessionInfo;
  readonly segments: number;
  readonly frames: bigint;
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
 * @throws UscopeError RECOVER_NOTHING, WRITER_*
 */
export async function recoverSpool(
  directory: string,
  output: string,
  summarizer: SummarizerFactory,
  index: SegmentIndexerFactory | null = null,
  openOutput: OpenOutput = openNodeOutput,
): Promise<SpoolRecovery> {
  const files = new SpoolFiles(directory, openOutput);
  const found = await readSpoolHeader(files);
  const content = found && (await readSpool(files));
  if (!found || !content || content.entries.length === 0) {
    const detail = 'no spool of a flight recorder with at least one complete segment';
    throw new UscopeError('RECOVER_NOTHING', detail, { file: directory });
  }
  const { entries, damaged, dropped } = content;
  const isDoubtful = found.check.damaged.length > 0 || found.check.checksums?.isFromDamaged === true;
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
      firstFrame: entries[entries.length - 1].nextFrame - frames,
      firstTimePs: entries[0].timeStartPs,
      endTimePs: entries[entries.length - 1].timeEndPs,
      bytes,
      isDoubtful,
      damaged: damaged.length,
      torn: dropped.filter((ordinal) => ordinal > entries[entries.length - 1].ordinal).length,
    };
  } finally {
    await strings?.close();
  }
}
