/**
 * State at a time (docs/reference/format.md#reading-a-file): the checkpoint of the segment that holds it, then that segment's frames up to it.
 */
import { UscopeError } from '../base/errors.js';
import type { Schema } from '../format/types.js';
import { type StateLayout, stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import { CheckpointPlacement } from './checkpoint-placement.js';
import { DenseBuffers } from './dense-buffers.js';
import type { SchemaChecks } from './scan.js';
import type { SegmentList } from './segment-list.js';
import type { LoadedSegment, SegmentLoader } from './segment-loader.js';
import { SegmentReplay } from './segment-replay.js';
import type { Warnings } from './warnings.js';

export class StateReader {
  private readonly layout: StateLayout;
  private readonly replay: SegmentReplay;
  private readonly denseBuffers: DenseBuffers | null;
  private readonly placement: CheckpointPlacement;

  /** @param ours the file has our session chunk: its checkpoints are where they belong */
  constructor(
    schema: Schema,
    private readonly list: SegmentList,
    private readonly loader: SegmentLoader,
    checks: SchemaChecks,
    warnings: Warnings,
    options: { readonly ours: boolean; readonly maxStateBytes: number | undefined },
  ) {
    this.layout = stateLayout(schema, options.maxStateBytes);
    this.denseBuffers = DenseBuffers.of(this.layout, loader, warnings);
    this.replay = new SegmentReplay(this.layout, schema, checks);
    const replay = (state: StorageState, segment: LoadedSegment) =>
      this.replay.run(state, segment, null, null);
    this.placement = new CheckpointPlacement(this.layout, list, loader, warnings, replay, options.ours);
  }

  /**
   * The state after all frames at or before `timePs`.
   * @throws UscopeError READER_RANGE before the first segment, FORMAT_* for damage.
   */
  async at(timePs: bigint): Promise<StorageState> {
    const index = await this.list.lastStartingAtOrBefore(timePs);
    if (index < 0) return this.beforeAll(timePs);
    return this.loader.inPlace(index, this.replay.space, async (segment, kernel) => {
      await this.loader.confirm(index + 1);
      const state = await this.atStartOf(index, segment);
      this.replay.run(state, segment, timePs, kernel);
      return state;
    });
  }

  /** The state before the first frame of a segment. @param loaded the segment, where it is at hand */
  async atStartOf(index: number, loaded: LoadedSegment | null = null): Promise<StorageState> {
    const state = new StorageState(this.layout);
    const source = (await this.placement.isAfter()) ? index - 1 : index;
    if (loaded && source === index) state.loadCheckpoint(loaded.checkpoint, loaded.checkpointOffset);
    else if (source >= 0) {
      const { bytes, offset } = await this.loader.checkpoint(source);
      state.loadCheckpoint(bytes, offset);
    }
    await this.denseBuffers?.restore(state, index);
    return state;
  }

  /** Whether checkpoints hold the state after their segment; asks the placement, which may have to look into segments. */
  checkpointsAreAfter(): Promise<boolean> {
    return this.placement.isAfter();
  }

  private async beforeAll(timePs: bigint): Promise<StorageState> {
    const first = this.list.count > 0 ? await this.list.entry(0) : null;
    if (first || timePs < 0n) {
      throw new UscopeError(
        'READER_RANGE',
        `the trace begins at ${first?.timeStartPs ?? 0n} ps; ${timePs} ps is before`,
      );
    }
    return new StorageState(this.layout);
  }
}
