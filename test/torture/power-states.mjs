// @ts-check
/** Looks at the states of a disk that lost power: each distinct state once, some of them at the same time. */
import { createHash } from 'node:crypto';

/** @param {readonly (string | Uint8Array)[]} parts */
export function digestOf(parts) {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest('base64');
}

/** Digests of contents that many states share. @type {WeakMap<Uint8Array, string>} */
const digests = new WeakMap();

/** @param {Uint8Array} bytes must not change afterwards */
export function contentDigest(bytes) {
  let digest = digests.get(bytes);
  if (digest === undefined) {
    digest = digestOf([bytes]);
    digests.set(bytes, digest);
  }
  return digest;
}

/**
 * What has been found in a state, by the digest of the state. Many crashes leave the same bytes: dropped writes do, and sectors that have one version.
 * @template T
 */
export class FoundOnce {
  /** @type {Map<string, Promise<T>>} */
  #found = new Map();

  get size() {
    return this.#found.size;
  }

  /** @param {string} key @param {() => Promise<T>} look @returns {Promise<T>} */
  get(key, look) {
    let found = this.#found.get(key);
    if (found === undefined) {
      found = look();
      found.catch(() => {}); // every caller gets it, and there may be none yet
      this.#found.set(key, found);
    }
    return found;
  }
}

/**
 * Calls `look` for every state, `jobs` at the same time; each gets the number of its place, which no other has meanwhile.
 * @template S
 * @param {Iterable<S>} states
 * @param {number} jobs
 * @param {(state: S, place: number) => Promise<boolean>} look false: the rest is left out
 */
export async function forEachState(states, jobs, look) {
  const iterator = states[Symbol.iterator]();
  let isOver = false;
  const work = async (/** @type {number} */ place) => {
    while (!isOver) {
      const next = iterator.next();
      if (next.done || !(await look(next.value, place))) isOver = true;
    }
  };
  await Promise.all(Array.from({ length: jobs }, (_, place) => work(place)));
}
