/**
 * What a client has folded into lane records (docs/reference/bridge-protocol.md#lane-records), unfolded before it reaches a writer, which knows plain records
 * only. A message is unfolded in pieces that stay in the processor's cache; one of nothing but lane records would be 64 times as large.
 */
import type { UscopeError } from '../../base/errors.js';
import { EVENT_INLINE_BYTES, RECORD_WORDS, RecordKind } from '../../format/record.js';
import { loadAddon } from '../../native/native-addon.js';
import { recordError } from '../../writer/frames/frame-checker.js';
import {
  highestLane,
  MAX_ID,
  MAX_SHIFT,
  Unfold,
  type UnfoldLanes,
  UnfoldStop,
  unfoldLanes,
} from './unfold-lanes.js';

const PIECE_BYTES = 256 * 1024;

/** For any trace: the unfolding code is done with a piece before anybody asks for the next. */
const piece = new Uint32Array(PIECE_BYTES / 4);

export class LaneRecords {
  private readonly state = new Uint32Array(Unfold.WORDS);
  private readonly step: UnfoldLanes;

  /** @param native machine code, where there is any */
  constructor(native = true) {
    this.step = (native ? loadAddon()?.unfoldLanes : undefined) ?? unfoldLanes;
  }

  /** The frame that continues in the next message has lane records, so that the count of its END is wrong. */
  get isOpen(): boolean {
    return this.state[Unfold.EXTRA] !== 0;
  }

  /** The stream starts again. */
  restart(): void {
    this.state.fill(0);
  }

  /**
   * The plain records of a message, in pieces that begin and end with whole records, each valid until the next one of any trace is asked for.
   * `words` may change meanwhile, but must not be where pieces are copied to.
   * @throws UscopeError BRIDGE_RECORD at a lane record that is not allowed, after the piece of what is before it
   */
  *unfold(words: Uint32Array): Generator<Uint32Array, void, undefined> {
    const { state } = this;
    const end = words.length - (words.length % RECORD_WORDS);
    for (state[Unfold.AT] = 0; state[Unfold.AT] < end; ) {
      const stop = this.step(state, words, piece);
      const length = state[Unfold.LENGTH];
      if (stop === UnfoldStop.APART) {
        const at = state[Unfold.AT];
        state[Unfold.AT] += length;
        yield words.subarray(at, at + length);
        continue;
      }
      if (length > 0) yield piece.subarray(0, length);
      if (stop === UnfoldStop.REFUSED) throw refusal(state);
    }
  }
}

function refusal(state: Uint32Array): UscopeError {
  const [word0, word1, lo, hi] = state.subarray(Unfold.REFUSED);
  const [name, problem] = describe(word0, word1, lo, hi);
  return recordError(`${name} at byte ${state[Unfold.AT] * 4} of its message: ${problem}`);
}

function describe(word0: number, word1: number, lo: number, hi: number): [name: string, problem: string] {
  const beyond = (what: string, first: number, lane: number) =>
    `${what} ${first} with lane ${lane} is above ${MAX_ID}`;
  const reserved = 'a reserved bit is not 0';
  switch (word0 & 0xff) {
    case RecordKind.ADD_LANES: {
      const isClean = (word0 & 0xff00) === 0 && word1 === 0;
      return ['ADD_LANES', isClean ? beyond('storage', word0 >>> 16, highestLane(lo, hi)) : reserved];
    }
    case RecordKind.SET_LANES:
      return ['SET_LANES', beyond('slot', word1 & 0xffff, highestLane((word0 >>> 8) & 0xff, 0))];
    default:
      return ['EVENT_LANES', eventProblem(word1 & 0xff, (word1 >>> 8) & 0xff) ?? reserved];
  }
}

function eventProblem(size: number, shift: number): string | null {
  if (size > EVENT_INLINE_BYTES)
    return `a payload of ${size} bytes; at most ${EVENT_INLINE_BYTES} are allowed`;
  if (shift > MAX_SHIFT) return `a shift by ${shift} bits; at most ${MAX_SHIFT} are allowed`;
  return null;
}
