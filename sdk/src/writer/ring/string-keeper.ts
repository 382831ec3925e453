/**
 * Strings of segments that are gone, within a bound. A later item may name any of them, but a model that makes ever new texts would fill the disk: when
 * they have become too many, those that no kept segment refers to are let go. The oldest stay as far as there is room: texts that a model uses
 * again and again are mostly made at its start.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurns, WalkSteps } from '../frames/turns.js';
import { type AssemblySource, cursorOf, rawOf, type SegmentContent } from './assembly.js';
import { stringsPath } from './layout.js';
import { publish, type SpoolFiles } from './spool-files.js';
import type { SpoolEntry } from './spooled-segment.js';
import { type IndexedText, StringFile, textBytes } from './string-file.js';
import { StringRefs } from './string-refs.js';

export class StringKeeper {
  /** Strings used by a segment, as long as it is kept: each is decoded once. */
  private readonly usedBy = new Map<number, Uint32Array>();
  private readonly refs: StringRefs;
  private sizeBefore = 0;
  private compaction: Promise<void> | null = null;

  constructor(
    private readonly files: SpoolFiles,
    private file: StringFile,
    private readonly source: Pick<AssemblySource, 'schema' | 'compression'>,
    maxStateBytes?: number,
  ) {
    this.refs = new StringRefs(source.schema, maxStateBytes);
  }

  /** Bytes on disk. */
  get size(): number {
    return this.file.size;
  }

  /** Resolves when the file is stable: it may be read then, until the next `compact`. */
  async settled(): Promise<void> {
    await this.compaction;
  }

  append(first: number, strings: readonly Uint8Array[]): Promise<void> {
    return this.file.append(first, strings);
  }

  all(): AsyncGenerator<IndexedText> {
    return this.file.all();
  }

  /** A segment is not kept any more. */
  forget(ordinal: number): void {
    this.usedBy.delete(ordinal);
  }

  /** Whether letting strings go is worth the work. @param budget bytes that they may take */
  isDue(budget: number): boolean {
    return !this.refs.isFixed && this.size > Math.max(budget, 2 * this.sizeBefore);
  }

  /** Lets go what neither `live` nor `waiting` refers to, but for the oldest that fit into half the budget. */
  async compact(
    live: readonly SpoolEntry[],
    waiting: readonly SegmentContent[],
    budget: number,
  ): Promise<void> {
    this.compaction = this.rewrite(live, waiting, budget);
    try {
      await this.compaction;
    } finally {
      this.compaction = null;
    }
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async rewrite(
    live: readonly SpoolEntry[],
    waiting: readonly SegmentContent[],
    budget: number,
  ): Promise<void> {
    const used = await this.usedBySegments(live, waiting);
    if (this.refs.isFixed) return;
    const { directory } = this.files;
    const path = stringsPath(directory);
    const file = await this.files.createAgain(`${path}.new`);
    const kept = new StringFile(file);
    try {
      let room = budget / 2;
      for await (const batch of batches(this.file.all())) {
        const wanted = batch.filter(({ index, text }) => {
          if (used.has(index)) return true;
          room -= textBytes(text);
          return room >= 0;
        });
        await kept.appendIndexed(wanted);
      }
      await kept.endAt(this.file.end);
    } finally {
      await file.close();
    }
    await publish(`${path}.new`, path);
    await this.file.close();
    this.file = await StringFile.open(await this.files.openOutput(path, 'resume'));
    this.sizeBefore = this.size;
  }

  private async usedBySegments(
    live: readonly SpoolEntry[],
    waiting: readonly SegmentContent[],
  ): Promise<Set<number>> {
    const all = new Set<number>();
    for (const { ordinal } of live) {
      let used = this.usedBy.get(ordinal);
      if (!used) {
        used = await this.usedIn(await this.files.readSegment(ordinal));
        this.usedBy.set(ordinal, used);
        await nextTurn();
      }
      for (const index of used) all.add(index);
    }
    for (const content of waiting) for (const index of await this.usedIn(content)) all.add(index);
    return all;
  }

  private async usedIn(content: SegmentContent): Promise<Uint32Array> {
    const { refs } = this;
    refs.used.clear();
    await inTurns(refs.collectCheckpoint(content.checkpoint));
    const frames = cursorOf(content, await rawOf(this.source, content));
    await inTurns(new WalkSteps(frames, (cursor) => refs.collect(cursor)));
    return Uint32Array.from(refs.used);
  }
}

const BATCH = 1024;

async function* batches(texts: AsyncIterable<IndexedText>): AsyncGenerator<IndexedText[]> {
  let batch: IndexedText[] = [];
  for await (const text of texts) {
    if (batch.push(text) < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
