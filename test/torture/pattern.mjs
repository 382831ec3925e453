// @ts-check
/** The pattern that simulator.c traces, and whether a file holds exactly that, from cycle 0 on without a gap. */
import { openTraceFile } from 'uscope';

const SLOTS = 16;
const NOTE_EVERY = 7;
const COUNTERS = 3;
const SET = 1;
const ADD = 3;

/**
 * @typedef {object} Contents
 * @property {number} cycles
 * @property {boolean} isComplete all sections are present
 * @property {string} status how the session ended
 * @property {bigint} lost
 * @property {string | null} problem the first item that is not the one the pattern has there
 */

const STATUS = ['open', 'closed', 'client lost', 'recovered', 'ring'];

/** @param {string} path @returns {Promise<Contents>} */
export async function contentsOf(path) {
  const trace = await openTraceFile(path);
  try {
    const expected = new Expected();
    /** @type {{ cycle: number, index: number }[]} */
    const notes = [];
    await trace.scan(
      {},
      {
        frame: (cursor) => expected.frame(Number(cursor.timePs)),
        op: ({ action, storageId, slot, field, lo, hi }) =>
          expected.take(`op ${action} ${storageId} ${slot} ${field} ${lo + hi * 2 ** 32}`),
        event: (cursor) => {
          const { eventType, payload } = cursor;
          const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
          if (eventType === 1) {
            notes.push({ cycle: expected.cycle, index: view.getUint32(0, true) });
            expected.take('note');
          } else {
            expected.take(`tick ${view.getBigUint64(0, true)} ${view.getUint8(8)}`);
          }
        },
      },
    );
    expected.end();
    for (const { cycle, index } of notes) {
      const text = await trace.strings.get(index);
      if (text !== `cycle ${cycle}`)
        expected.fail(`the note of cycle ${cycle} reads ${JSON.stringify(text)}`);
    }
    return {
      cycles: expected.cycles,
      isComplete: trace.isComplete,
      status: STATUS[trace.session?.status ?? 0],
      lost: trace.session?.lost ?? 0n,
      problem: expected.problem,
    };
  } finally {
    await trace.close();
  }
}

/** Walks along the pattern. */
class Expected {
  cycle = -1;
  /** @type {string | null} */
  problem = null;
  /** @type {string[]} */
  #items = [];
  #at = 0;

  get cycles() {
    return this.cycle + 1;
  }

  /** @param {number} timePs */
  frame(timePs) {
    this.end();
    this.cycle++;
    if (timePs !== this.cycle * 1000) this.fail(`the frame of cycle ${this.cycle} is at ${timePs} ps`);
    this.#items = itemsOf(this.cycle);
    this.#at = 0;
  }

  /** @param {string} item */
  take(item) {
    const due = this.#items[this.#at++];
    if (item !== due) this.fail(`cycle ${this.cycle} has "${item}" where "${due}" is due`);
  }

  end() {
    if (this.#at !== this.#items.length)
      this.fail(`cycle ${this.cycle} has ${this.#at} of ${this.#items.length} items`);
  }

  /** @param {string} problem */
  fail(problem) {
    this.problem ??= problem;
  }
}

/** @param {number} cycle */
function itemsOf(cycle) {
  const items = [`op ${SET} 0 ${cycle % SLOTS} 0 ${cycle}`];
  if (cycle % 3 === 0) items.push(`op ${ADD} 0 ${(cycle + 1) % SLOTS} 0 1`);
  for (let counter = 0; counter < COUNTERS; counter++) {
    if ((cycle >> counter) & 1) items.push(`op ${ADD} ${1 + counter} 0 0 1`);
  }
  items.push(`tick ${cycle} ${cycle & 255}`);
  if (cycle % NOTE_EVERY === 0) items.push('note');
  return items;
}
