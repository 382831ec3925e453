/** The directory of a trace that a writer closes, from the containers in its commit records. */
import { crc32 } from '#platform/crc32';
import { isUscopeError } from '../../base/errors.js';
import { decodeIndexContainer } from '../../format/index-container.js';
import type { IndexedFile, IndexOutput } from '../../writer/contract/segment-indexer.js';
import type { IndexPlan } from '../plan.js';
import { maxShare } from '../share.js';
import { type MadeDirectory, type PlacedContainer, writeDirectory, writeMade } from './write-directory.js';

/** Of a short file, for the directory. */
const MIN_BYTES = 16 * 1024;

/**
 * @param made of the file's containers; null: they are read for it
 * @throws UscopeError WRITER_* from `output` and reading the file
 */
export async function appendDirectory(
  plan: IndexPlan,
  file: IndexedFile,
  output: IndexOutput,
  made: MadeDirectory | null = null,
): Promise<void> {
  const { segments, startPs, endPs, bytes } = file;
  const target = {
    plan,
    segments,
    startPs,
    endPs,
    crc32,
    maxBytes: (containers: number) => Math.max(MIN_BYTES, bytes * maxShare(bytes / segments) - containers),
  };
  if (made) await writeMade(target, made, output);
  else
    await writeDirectory({ ...target, container: (segment: number) => placed(plan, file, segment) }, output);
}

/** null: the segment has none, or one that is damaged or made by other rules. */
async function placed(plan: IndexPlan, file: IndexedFile, segment: number): Promise<PlacedContainer | null> {
  const found = await file.container(segment);
  if (!found) return null;
  const { offset, bytes } = found;
  try {
    const container = decodeIndexContainer(bytes, offset, crc32);
    if (container?.planCrc !== plan.crc) return null;
    return { offset, size: bytes.length, parts: container.parts };
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}
