/** How many instructions were born before a walk begins. */
import type { Trace } from '../../reader/index.js';
import type { CoreEntities, CpuCore } from '../cpu/cores.js';
import { birthsBefore } from '../cpu/numbering.js';
import type { SegmentAccess } from '../lifecycle/segments.js';
import type { BlockOptions } from './options.js';

/** Counted once somebody needs them. */
export class Births {
  private found: Promise<bigint | null> | null = null;

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly entities: CoreEntities,
    private readonly access: SegmentAccess,
    private readonly first: number,
    private readonly options: BlockOptions,
  ) {}

  before(): Promise<bigint | null> {
    const { trace, core, entities, access, first } = this;
    this.found ??= birthsBefore(trace, core, entities, access, first, this.options);
    return this.found;
  }
}
