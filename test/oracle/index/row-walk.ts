/** The part ROWS of one core, the plain way: what `CoreSlots` says of its instructions is counted by groups of 64. */

import { NO_COLUMN, type RowPlan } from '../../../sdk/src/trace-index/row-plan.js';
import {
  encodeRowsPart,
  GROUP_ROWS,
  LATE_COLUMNS,
  MAX_GROUPS,
  OWN_COLUMNS,
} from '../../../sdk/src/trace-index/rows/rows-part.js';
import { MAX_CELLS } from '../../../sdk/src/trace-index/time-part.js';
import { type CarriedRow, countGroups, MAX_CARRIED, MAX_LATE } from './rows-carry.js';
import type { StatsWalk } from './stats-walk.js';

const NO_STAGE = -1;
/** Stages of one frame that come before their instruction, kept at most. */
const MAX_EARLY = 4096;

/** An instruction in flight. */
export interface Life {
  readonly group: Group;
  stage: number;
  entered: bigint;
  readonly born: bigint;
}

/** A group of rows. `distance`: an earlier one, this number of rows before the segment's first. */
class Group {
  firstBirth = 0n;
  lastBirth = 0n;
  /** + 1; 0: none. */
  lastEnd = 0n;
  retired = 0n;
  flushed = 0n;
  ended = 0n;
  stalls = 0n;
  readonly time: bigint[];
  readonly longest: bigint[];

  constructor(
    stages: number,
    readonly distance: bigint | null,
    /** Of the first row, counted from the segment's. */
    readonly first: number,
  ) {
    this.time = new Array<bigint>(stages).fill(0n);
    this.longest = new Array<bigint>(stages).fill(0n);
  }

  get counts(): bigint[] {
    const { retired, flushed, ended, stalls, time, longest } = this;
    const stages = time.flatMap((cycles, stage) => [cycles, longest[stage]!]);
    return [retired, flushed, ended, stalls, ...stages];
  }

  get own(): bigint[] {
    const { firstBirth, lastBirth, lastEnd } = this;
    return [firstBirth, lastBirth - firstBirth, lastEnd === 0n ? 0n : lastEnd - firstBirth, ...this.counts];
  }

  get late(): bigint[] {
    return [this.distance!, this.lastEnd, ...this.counts];
  }
}

export class RowWalk {
  /** Of the present frame. */
  cycle = 0n;
  /** Cycles are too large: see `MAX_ROW_CYCLES`. */
  isLate = false;
  private births = 0;
  private readonly own: Group[] = [];
  private readonly earlier = new Map<bigint, Group>();
  private early: { readonly id: number; readonly value: number }[] = [];

  /** @param stats gets what ends as it should */
  constructor(
    private readonly plan: RowPlan,
    private readonly stats: StatsWalk,
  ) {}

  /** In flight at the start. @param lastCycle of the frame before */
  carried({ distance, stage, sinceEntered, sinceBirth }: CarriedRow, lastCycle: bigint): Life {
    let group = this.earlier.get(distance);
    if (!group) {
      group = new Group(this.plan.stages, distance, 0);
      this.earlier.set(distance, group);
    }
    const [entered, born] = [sinceEntered, sinceBirth].map((since) => BigInt.asUintN(64, lastCycle - since));
    return { group, stage, entered: entered!, born: born! };
  }

  frame(cycle: bigint): void {
    this.cycle = cycle;
    this.early = [];
  }

  birth(id: number): Life {
    const index = Math.floor(this.births / GROUP_ROWS);
    let group = this.own[index];
    if (!group) {
      group = new Group(this.plan.stages, null, index * GROUP_ROWS);
      group.firstBirth = this.cycle;
      this.own.push(group);
    }
    group.lastBirth = this.cycle;
    this.births++;
    const life: Life = { group, stage: NO_STAGE, entered: 0n, born: this.cycle };
    for (const early of this.early) if (early.id === id) this.enter(life, early.value);
    return life;
  }

  postpone(id: number, value: number): void {
    if (this.early.length < MAX_EARLY) this.early.push({ id, value });
  }

  enter(life: Life, value: number): void {
    this.leave(life);
    this.countStay(life);
    const column = this.plan.stageOf[value] ?? this.plan.stages - 1;
    life.stage = column === NO_COLUMN ? NO_STAGE : column;
    life.entered = this.cycle;
  }

  private countStay({ stage, entered }: Life): void {
    if (stage !== NO_STAGE) this.stats.stay(stage, BigInt.asUintN(64, this.cycle - entered));
  }

  private leave({ group, stage, entered }: Life): void {
    if (stage === NO_STAGE) return;
    const stay = BigInt.asUintN(64, this.cycle - entered);
    group.time[stage] = BigInt.asUintN(64, group.time[stage]! + stay);
    if (stay > group.longest[stage]!) group.longest[stage] = stay;
  }

  flush(life: Life): void {
    this.leave(life);
    if (life.stage !== NO_STAGE) this.stats.cut(life.stage);
    life.stage = NO_STAGE;
    life.group.flushed++;
  }

  stall({ group }: Life): void {
    group.stalls++;
  }

  end(life: Life, isRetired: boolean): void {
    this.leave(life);
    const { group } = life;
    group.ended++;
    group.lastEnd = this.cycle + 1n;
    if (!isRetired) return;
    group.retired++;
    this.countStay(life);
    this.stats.lived(BigInt.asUintN(64, this.cycle - life.born));
  }

  /** null: there are more groups than a part may have, or cycles are too large. */
  part(isExact: boolean): Uint8Array | null {
    if (this.isTooLarge) return null;
    const columns = OWN_COLUMNS + 2 * this.plan.stages;
    const late = [...this.earlier.values()]
      .filter((group) => group.late.slice(1).some((value) => value > 0n))
      .sort((a, b) => (a.distance! < b.distance! ? 1 : -1));
    return encodeRowsPart({
      isExact,
      births: this.births,
      own: transposed(
        columns,
        this.own.map((group) => group.own),
      ),
      late: transposed(
        LATE_COLUMNS + 2 * this.plan.stages,
        late.map((group) => group.late),
      ),
    });
  }

  get isTooLarge(): boolean {
    const { length } = this.own;
    return this.isLate || length > MAX_GROUPS || length * (OWN_COLUMNS + 2 * this.plan.stages) > MAX_CELLS;
  }

  /** null: too many. */
  carry(flying: readonly { slot: number; id: number; life: Life | null }[]): CarriedRow[] | null {
    const rows = flying.flatMap(({ slot, id, life }) => {
      if (!life) return [];
      const { group, stage, entered } = life;
      const distance = BigInt(this.births) + (group.distance ?? -BigInt(group.first));
      const sinceEntered = stage === NO_STAGE ? 0n : BigInt.asUintN(64, this.cycle - entered);
      const sinceBirth = BigInt.asUintN(64, this.cycle - life.born);
      return [{ slot, id, distance, stage, sinceEntered, sinceBirth }];
    });
    const isTooLarge = this.isTooLarge || rows.length > MAX_CARRIED || countGroups(rows) > MAX_LATE;
    return isTooLarge ? null : rows;
  }
}

function transposed(columns: number, groups: readonly bigint[][]): bigint[][] {
  return Array.from({ length: columns }, (_, column) => groups.map((group) => group[column]!));
}
