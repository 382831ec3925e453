/** Which colour a box has. */
import * as cpu from 'uscope/cpu';
import type { CoreInfo } from '../data/protocol.js';
import { lowerBound, NO_STAGE, NO_THREAD, type RowBlock } from '../model/blocks.js';
import {
  fillOf,
  mix,
  pixelOf,
  reasonColour,
  reasonPlace,
  stageColour,
  type Theme,
} from '../model/palette.js';
import { bitsOf } from '../model/row.js';
import type { Settings } from './settings.js';

/** A box as it is filled, as pixel values. */
interface Fill {
  readonly body: number;
  readonly edge: number;
}

/** Entry of a legend. */
export interface LegendEntry {
  readonly name: string;
  readonly colour: string;
}

export class Colouring {
  private readonly fills: Fill[];
  private readonly dimmed: Fill[];
  private readonly plain: number;
  private readonly classifier: cpu.InstructionClassifier | null;

  constructor(
    readonly theme: Theme,
    private readonly settings: Pick<Settings, 'colour' | 'stages'>,
    private readonly core: CoreInfo,
    private readonly reasons: readonly string[],
  ) {
    const colours = [...Array.from({ length: 256 }, (_, index) => this.colourOf(index)), theme.plain];
    this.plain = colours.length - 1;
    this.fills = colours.map((colour) => fill(colour, theme));
    this.dimmed = colours.map((colour) => fill(mix(colour, theme.background, 0.68), theme));
    this.classifier = core.xlen === null ? null : new cpu.InstructionClassifier(core.xlen);
  }

  get mode(): Settings['colour'] {
    return this.settings.colour;
  }

  /** What the colours mean. */
  legend(): LegendEntry[] {
    const names = {
      stage: this.core.stages,
      class: cpu.INSTRUCTION_CLASSES,
      stall: this.reasons,
      thread: [],
    };
    return names[this.mode].map((name, index) => ({ name, colour: this.colourOf(index) }));
  }

  /** Whether all boxes of a row have one colour. */
  get isByRow(): boolean {
    return this.mode === 'class' || this.mode === 'thread';
  }

  /** Index of the colour of a row, for modes in which a row has one. */
  ofRow(block: RowBlock, index: number): number {
    if (this.mode === 'thread') {
      const thread = block.thread[index]!;
      return thread === NO_THREAD ? this.plain : thread;
    }
    return this.classOf(block, index);
  }

  /** Class of an instruction, as an index of the colours. */
  classOf(block: RowBlock, index: number): number {
    const bits = bitsOf(block, index);
    return bits === null || !this.classifier ? this.plain : this.classifier.classOf(bits);
  }

  /**
   * Index of the colour of a box.
   * @param from cycle since the block's base at which it begins
   * @param to exclusive
   */
  ofBox(block: RowBlock, stage: number, from: number, to: number): number {
    if (this.mode === 'stage') return stage === NO_STAGE ? this.plain : stage;
    // By stall: the stall of the core in its first cycle of waiting, where it waits at all.
    if (to - from < 2) return this.plain;
    const { cycle, reason } = block.stalls;
    const at = lowerBound(cycle, from);
    if (at >= cycle.length || cycle[at]! >= to) return this.plain;
    return reasonPlace(this.reasons, block.names[reason[at]!]!);
  }

  /** The colour of a stage in any mode. */
  ofStage(stage: number): string {
    return stageColour(this.theme, this.core.stages, stage, this.settings.stages);
  }

  fill(colour: number, isDim: boolean): Fill {
    return (isDim ? this.dimmed : this.fills)[colour]!;
  }

  private colourOf(index: number): string {
    const { theme, mode } = this;
    if (mode === 'stall') return reasonColour(theme, index);
    return mode === 'stage' ? this.ofStage(index) : fillOf(theme, index);
  }
}

function fill(colour: string, theme: Theme): Fill {
  return { body: pixelOf(colour), edge: pixelOf(mix(colour, theme.background, 0.45)) };
}
