/** Whether a stretch that began with a guess has begun with what the stretch before ended with. */
import type { CoreCarry } from './core-analysis.js';
import type { PipelineCarry } from './pipeline.js';
import { type CarriedSlot, SlotFlag } from './slots.js';

/** How a stretch began and ended, for one core. */
export interface StretchEnds {
  readonly before: CoreCarry;
  readonly after: CoreCarry;
  /** See `PipelinePart`. */
  readonly wasReplaced: boolean;
}

/**
 * What is known behind a stretch, given what was known in front of it. Null: the stretch began with something else, and what it has counted may be
 * wrong. An instruction of unknown birth does no harm where the stretch has seen nothing happen to it.
 */
export function continued(known: CoreCarry, { before, after, wasReplaced }: StretchEnds): CoreCarry | null {
  if (!sameBuffers(known.buffers, before.buffers) || !sameValues(known.counters, before.counters))
    return null;
  if (!known.pipeline || !before.pipeline || !after.pipeline) return after;
  const untouched = untouchedSlots(known.pipeline, before.pipeline, after.pipeline, wasReplaced);
  if (!untouched) return null;
  const slots = after.pipeline.slots.map((one) => untouched.get(one.slot) ?? one);
  return { ...after, pipeline: { ...after.pipeline, slots } };
}

/** By slot, what is known of the instructions that the stretch knew less of; null: it went wrong. */
function untouchedSlots(
  known: PipelineCarry,
  before: PipelineCarry,
  after: PipelineCarry,
  wasReplaced: boolean,
): Map<number, CarriedSlot> | null {
  const { slots, special, level } = before;
  if (known.level !== level || known.slots.length !== slots.length || !samePairs(known.special, special))
    return null;
  const untouched = new Map<number, CarriedSlot>();
  const last = new Map(after.slots.map((one) => [one.slot, one]));
  for (const [index, guess] of slots.entries()) {
    const truth = known.slots[index];
    if (sameSlot(truth, guess)) continue;
    const end = last.get(guess.slot);
    if (wasReplaced || !isLess(guess, truth) || !end || !sameSlot(end, guess)) return null;
    untouched.set(guess.slot, truth);
  }
  return untouched;
}

function sameSlot(a: CarriedSlot, b: CarriedSlot): boolean {
  return sameOccupant(a, b) && a.stage === b.stage && same(a.born, b.born) && same(a.entered, b.entered);
}

function sameOccupant(a: CarriedSlot, b: CarriedSlot): boolean {
  return a.slot === b.slot && a.flags === b.flags && a.id === b.id && a.bits === b.bits;
}

/** The same instruction, of which nothing was known but that it is there. */
function isLess(guess: CarriedSlot, truth: CarriedSlot): boolean {
  const isBlank = Number.isNaN(guess.born) && Number.isNaN(guess.entered) && guess.stage === null;
  return isBlank && (guess.flags & SlotFlag.FLUSHED) === 0 && sameOccupant(guess, truth);
}

const same = (a: number, b: number): boolean => Object.is(a, b);

function sameValues(a: readonly bigint[], b: readonly bigint[]): boolean {
  return a.every((value, index) => value === b[index]);
}

function sameBuffers(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.every((taken, index) => taken.every((one, slot) => one === b[index][slot]));
}

function samePairs(a: PipelineCarry['special'], b: PipelineCarry['special']): boolean {
  return a.length === b.length && a.every(([id, slot], i) => id === b[i][0] && slot === b[i][1]);
}
