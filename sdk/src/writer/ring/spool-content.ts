/** What a spool directory holds: header, and the segments that can be used. */

import { crc32 } from '#platform/crc32';
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { decodeHeader, type FileHeader, HEADER_SIZE } from '../../format/header.js';
import { decodePreamble, type Preamble } from '../../format/preamble.js';
import { checkPreamble, type PreambleCheck } from '../../format/preamble-check.js';
import type { SessionInfo } from '../../format/session-chunk.js';
import type { OpenOutput, OutputFile } from '../output/output-file.js';
import { headerPath } from './layout.js';
import { NO_TRIGGERS, type Trigger, type TriggerState } from './ring-record.js';
import type { SpoolFiles } from './spool-files.js';
import { entryOf, type SpoolEntry, type SpooledSegment } from './spooled-segment.js';

const MAX_PREAMBLE_BYTES = 1024 * 1024;

export interface SpoolHeader {
  readonly header: FileHeader;
  readonly preamble: Preamble;
  readonly session: SessionInfo;
  readonly check: PreambleCheck;
}

/** null: there is none, or its creation was not completed. */
export async function readSpoolHeader(files: SpoolFiles): Promise<SpoolHeader | null> {
  return readTraceHeader(headerPath(files.directory), files.openOutput, async () => null);
}

/**
 * Header and preamble of a trace file of ours, and what `readMore` makes of it. null: there is none, it is not a trace, or its creation was
 * not completed.
 */
export async function readTraceHeader<T>(
  path: string,
  open: OpenOutput,
  readMore: (header: FileHeader, file: OutputFile) => Promise<T>,
): Promise<(SpoolHeader & { readonly more: T }) | null> {
  let file: OutputFile;
  try {
    file = await open(path, 'resume');
  } catch (error) {
    const { code } = ((error as UscopeError).cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
  try {
    const header = decodeHeader(await file.read(0, HEADER_SIZE));
    if (header.preambleEnd > MAX_PREAMBLE_BYTES) return null;
    const bytes = await file.read(HEADER_SIZE, header.preambleEnd - HEADER_SIZE);
    const preamble = decodePreamble(bytes, header.versionMinor);
    const { session } = preamble;
    const check = checkPreamble(header, bytes, crc32);
    return session && { header, preamble, session, check, more: await readMore(header, file) };
  } catch (error) {
    if (error instanceof UscopeError && error.code.startsWith('FORMAT_')) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** What a spool holds that can be used. */
export interface SpoolContent {
  readonly entries: readonly SpoolEntry[];
  readonly newest: SpooledSegment | null;
  /** Files of segments that are not part of it: torn, or cut off by one that is damaged. */
  readonly dropped: readonly number[];
  /** Segments that were durable and cannot be read. */
  readonly damaged: readonly number[];
  /** Triggers whose files end with segments kept. */
  readonly due: readonly { readonly trigger: Trigger; readonly upTo: number }[];
  readonly triggers: TriggerState;
}

/**
 * Takes the segments up to the first that is torn. A segment that a later one knows as durable is not torn but damaged: then what follows it
 * is what can be kept.
 */
export async function readSpool(files: SpoolFiles): Promise<SpoolContent> {
  const ordinals = await files.ordinals();
  let entries: SpoolEntry[] = [];
  let newest: SpooledSegment | null = null;
  let bad: number[] = [];
  const damaged: number[] = [];
  const dropped: number[] = [];
  let due: { trigger: Trigger; upTo: number }[] = [];
  let previous: number | null = null;
  for (const ordinal of ordinals) {
    const { segment, size } = await files.tryRead(ordinal);
    if (previous !== null && ordinal !== previous + 1) bad.push(ordinal - 1);
    previous = ordinal;
    if (segment === null) {
      bad.push(ordinal);
      continue;
    }
    if (bad.length > 0) {
      if (segment.ring.durable <= bad[bad.length - 1]) {
        dropped.push(ordinal);
        continue;
      }
      appendAll(damaged, bad);
      appendAll(
        dropped,
        entries.map((entry) => entry.ordinal),
        bad,
      );
      [entries, due, bad] = [[], [], []];
    }
    entries.push(entryOf(segment, size));
    newest = segment;
    for (const trigger of segment.ring.triggers.due) due.push({ trigger, upTo: ordinal });
  }
  appendAll(dropped, bad);
  return { entries, newest, dropped, damaged, due, triggers: newest?.ring.triggers ?? NO_TRIGGERS };
}
