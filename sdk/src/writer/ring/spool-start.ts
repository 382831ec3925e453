/** How a flight recorder begins: with an empty spool, or with the one that a daemon before has left. */
import { readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { CursorItem, FrameCursor } from '../../format/frame.js';
import { compressionOf } from '../../format/header.js';
import type { SessionInfo } from '../../format/session-chunk.js';
import { stateLayout } from '../../state/layout.js';
import { StorageState } from '../../state/storage-state.js';
import { createCompressor, decompress } from '../compression/compressor.js';
import type { WriterOptions } from '../contract/options.js';
import { checkpointInterval, clearPath, createTraceFile, type TraceFile } from '../file/trace-file.js';
import { DEFAULT_HARD_BYTES, DEFAULT_SOFT_BYTES } from '../frames/cut-policy.js';
import { FrameChecker } from '../frames/frame-checker.js';
import { granted } from '../frames/memory-need.js';
import { inTurns, type ReplayedSegment, replaySteps, WalkSteps } from '../frames/turns.js';
import { ioError, type OpenOutput, openNodeOutput, syncDirectory } from '../output/output-file.js';
import { RecordWriter } from '../record-writer.js';
import { refuseDamaged } from '../resume.js';
import type { SpoolTrace } from './file-maker.js';
import {
  headerPath,
  isSpoolName,
  isTriggerName,
  spoolDirectory,
  stringsPath,
  triggerPath,
} from './layout.js';
import { type RingOptions, spanOf } from './options.js';
import { RingWriter } from './ring-writer.js';
import { Spool } from './spool.js';
import { readSpool, readSpoolHeader, type SpoolContent, type SpoolHeader } from './spool-content.js';
import { makeDirectory, removeSpool, SpoolFiles } from './spool-files.js';
import { onDisk, type SpooledSegment } from './spooled-segment.js';
import { closedOnFailure, StringFile, stringsOf } from './string-file.js';
import { StringKeeper } from './string-keeper.js';
import { TriggerScan } from './trigger-scan.js';

/** Segments that fit into a ring at least: with fewer, dropping one would leave too little. */
const SEGMENTS_PER_RING = 8;
const MIN_SOFT_BYTES = 64 * 1024;

/**
 * A flight recorder for the trace at `options.path`, with an empty spool. What is at that path, and files of triggers before, are treated as
 * those of any new trace: finalized ones are replaced.
 * @throws UscopeError WRITER_*, SCHEMA_LIMIT, and what `ring.triggers` throws
 */
export async function createRing(options: WriterOptions, ring: RingOptions): Promise<RingWriter> {
  const layout = stateLayout(options.schema, options.maxStateBytes);
  const allowance = await granted(layout, options.budget);
  new FrameChecker(layout); // a schema that cannot be written must fail before there is a file
  checkpointInterval(options);
  createCompressor(options.compression ?? 'lz4', options.compressionLevel);
  spanOf(options.schema, ring.span);
  const scan = new TriggerScan(ring.triggers?.(options.schema) ?? [], 0);
  const open = options.openOutput ?? openNodeOutput;
  await clearNames(options.path, open);
  const directory = spoolDirectory(options.path);
  await makeDirectory(directory);
  const header = await createTraceFile({ ...options, path: headerPath(directory) });
  await header.file.close();
  const files = new SpoolFiles(directory, open);
  const { schema, dut = [], compression = 'lz4' } = options;
  const file = new StringFile(await open(stringsPath(directory), 'create'));
  return closedOnFailure(file, async () => {
    const strings = new StringKeeper(files, file, { schema, compression }, options.maxStateBytes);
    const source = { schema, dut, checkpointIntervalPs: checkpointInterval(options), compression };
    const spool = new Spool(files, strings, traceOf(options.path, header, source), options, ring, {
      entries: [],
      nextOrdinal: 0,
      triggers: 0,
      skipped: 0,
    });
    const writer = new RecordWriter(limited(options, ring), {
      store: spool,
      session: header.session,
      state: new StorageState(layout),
      summarizer: null,
      nextFrame: 0,
      nextString: 0,
      items: 0,
      lastTimePs: null,
      allowance,
    });
    return new RingWriter(writer, spool, scan, ring);
  });
}

/** Segments are small enough for the ring to hold several. */
function limited(options: WriterOptions, { maxBytes }: RingOptions): WriterOptions {
  if (maxBytes === undefined) return options;
  const soft = Math.max(MIN_SOFT_BYTES, Math.floor(maxBytes / SEGMENTS_PER_RING));
  return {
    ...options,
    softCutBytes: Math.min(soft, options.softCutBytes ?? DEFAULT_SOFT_BYTES),
    hardCutBytes: Math.min(4 * soft, options.hardCutBytes ?? DEFAULT_HARD_BYTES),
  };
}

function traceOf(path: string, header: TraceFile, source: SpoolTrace['source']): SpoolTrace {
  return { path, source, session: header.session, headerBytes: header.preambleEnd };
}

/** Makes room for a new trace: its file, the files of its triggers, its spool. */
async function clearNames(path: string, open: OpenOutput): Promise<void> {
  await clearPath(path, open);
  const directory = dirname(path);
  for (const name of await readdir(directory).catch((error) => Promise.reject(ioError(error, directory)))) {
    if (isTriggerName(path, name)) await clearPath(join(directory, name), open);
  }
  await clearSpool(spoolDirectory(path), open);
}

/** A spool with segments is somebody's only copy: it is set aside. */
async function clearSpool(directory: string, open: OpenOutput): Promise<void> {
  const kind = await stat(directory).catch(() => null);
  if (kind === null) return;
  const files = new SpoolFiles(directory, open);
  const detail =
    'something that is not a spool of a flight recorder is there; remove it or choose another name';
  if (!kind.isDirectory() || !(await files.names()).every(isSpoolName)) {
    throw new UscopeError('WRITER_EXISTS', detail, { file: directory });
  }
  const header = await readSpoolHeader(files);
  if (header === null || (await files.ordinals()).length === 0) return removeSpool(directory, isSpoolName);
  const id = Buffer.from(header.session.sessionId).toString('hex').slice(0, 8);
  const stem = directory.replace(/\.ring$/, '');
  for (let n = 1; ; n++) {
    const name = `${stem}.${id}${n > 1 ? `.${n}` : ''}.unfinished.ring`;
    if (await stat(name).catch(() => null)) continue;
    await rename(directory, name);
    return syncDirectory(dirname(directory));
  }
}

/**
 * Goes on with the spool of session `options.sessionId` next to `options.path`; null when there is none. What is torn is dropped, files that
 * triggers were due to get are made.
 * @throws UscopeError WRITER_*, and what `ring.triggers` throws
 */
export async function resumeRing(options: WriterOptions, ring: RingOptions): Promise<RingWriter | null> {
  const open = options.openOutput ?? openNodeOutput;
  const files = new SpoolFiles(spoolDirectory(options.path), open);
  const found = await readSpoolHeader(files);
  if (found === null || !isSame(found.session, options.sessionId)) return null;
  refuseDamaged(found.check, headerPath(files.directory));
  const content = await readSpool(files);
  for (const name of await files.names()) {
    if (name.endsWith('.assembly') || name.endsWith('.new')) await files.remove(join(files.directory, name));
  }
  for (const ordinal of content.dropped) await files.removeSegment(ordinal);
  return new Continuation(options, ring, files, found, content).start();
}

function isSame(session: SessionInfo, sessionId: Uint8Array | undefined): boolean {
  return sessionId !== undefined && Buffer.from(session.sessionId).equals(sessionId);
}

class Continuation {
  constructor(
    private readonly options: WriterOptions,
    private readonly ring: RingOptions,
    private readonly files: SpoolFiles,
    private readonly found: SpoolHeader,
    private readonly content: SpoolContent,
  ) {}

  async start(): Promise<RingWriter> {
    const file = await this.openStrings();
    return closedOnFailure(file, () => this.startWith(file));
  }

  private async startWith(file: StringFile): Promise<RingWriter> {
    const { entries, newest, triggers } = this.content;
    const { preamble, header, session } = this.found;
    const { schema, dut, checkpointIntervalPs } = preamble;
    const compression = compressionOf(header.flags);
    const options = { ...this.options, schema, dut, checkpointIntervalPs, compression };
    const strings = new StringKeeper(this.files, file, { schema, compression }, options.maxStateBytes);
    const layout = stateLayout(schema, options.maxStateBytes);
    const allowance = await granted(layout, options.budget);
    const state = new StorageState(layout);
    const last = newest && (await decoded(newest, state, options));
    const nextFrame = Number(newest?.record.nextFrame ?? 0n);
    const nextString = Number(newest?.record.nextString ?? 0n);
    const spool = new Spool(
      this.files,
      strings,
      {
        path: options.path,
        source: { schema, dut, checkpointIntervalPs, compression },
        session,
        headerBytes: header.preambleEnd,
      },
      options,
      this.ring,
      {
        entries,
        nextOrdinal: (entries[entries.length - 1]?.ordinal ?? -1) + 1,
        triggers: triggers.seen,
        skipped: triggers.skipped,
      },
    );
    const scan = new TriggerScan(this.ring.triggers?.(schema) ?? [], nextFrame);
    if (scan.wantsStrings) await this.addStrings(scan, file);
    const writer = await RecordWriter.open(limited(options, this.ring), {
      store: spool,
      session,
      state,
      load: async (place) => void (last && (await inTurns(replaySteps(place, last)))),
      summarizer: null,
      nextFrame,
      nextString,
      items: newest?.ring.items ?? 0,
      lastTimePs: last?.lastTimePs ?? null,
      allowance,
    });
    const recorder = new RingWriter(writer, spool, scan, this.ring, triggers.waiting);
    await this.requestDue(spool);
    return recorder;
  }

  private async openStrings(): Promise<StringFile> {
    const path = stringsPath(this.files.directory);
    const { openOutput } = this.files;
    const isThere = (await this.files.names()).includes('strings');
    return StringFile.open(await openOutput(path, isThere ? 'resume' : 'create'));
  }

  private async addStrings(scan: TriggerScan, strings: StringFile): Promise<void> {
    const decoder = new TextDecoder();
    for await (const { index, text } of stringsOf(this.files, strings, this.content.entries))
      scan.addString(index, decoder.decode(text));
  }

  /** A trigger's file that is there was made before the daemon was killed. */
  private async requestDue(spool: Spool): Promise<void> {
    for (const { trigger, upTo } of this.content.due) {
      const path = triggerPath(this.options.path, trigger.number);
      const there = await stat(path).catch(() => null);
      const { timePs, label } = trigger;
      if (there) spool.alreadyMade({ path, label: String(label), timePs, bytes: onDisk(there.size) });
      else spool.request(trigger, upTo);
    }
  }
}

interface Decoded extends ReplayedSegment {
  readonly lastTimePs: bigint;
}

/** A segment that can be replayed: its ids are in range. @throws UscopeError FORMAT_* */
async function decoded(
  { header, checkpoint, deltas }: SpooledSegment,
  state: StorageState,
  options: WriterOptions,
): Promise<Decoded> {
  const raw = await decompress(options.compression ?? 'lz4', deltas, header.deltasRawSize);
  const cursor = new FrameCursor(raw, header.timeStartPs, true);
  const check = ({ kind, action, storageId, slot, field }: FrameCursor): void => {
    if (kind !== CursorItem.OP || state.inRange(action, storageId, slot, field)) return;
    throw new UscopeError(
      'FORMAT_ID',
      `an op on storage ${storageId}, slot ${slot}, field ${field} is outside the schema`,
    );
  };
  await inTurns(new WalkSteps(cursor, check));
  return { checkpoint, raw, timeStartPs: header.timeStartPs, lastTimePs: cursor.timePs };
}
