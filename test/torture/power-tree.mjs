// @ts-check
/**
 * What a disk with files and directories may hold after its power failed, from the log of power-record.mjs.
 *
 * What a sync of a file has completed stays, and so do the names that a sync of their directory has completed. Of all that came since, each sector of 512
 * bytes is in any version it has had, a file is as long as any of its writes made it, and each change of names is there or is not, whatever
 * came before it. Only a rename is one change: there is no moment at which neither name is there.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentDigest, digestOf } from './power-states.mjs';

const SECTOR = 512;
const NOTHING = new Uint8Array(0);

/**
 * @typedef {import('./power-record.mjs').Step} Step
 * @typedef {Exclude<Step, { kind: 'sync' } | { kind: 'promise' }> & { number: number }} Change
 * @typedef {object} Crash
 * @property {string} name
 * @property {any[]} promised
 * @property {() => string} digest The same for the same files.
 * @property {(directory: string) => void} write Makes the files that are found.
 */

/** The durable part of a disk. */
class Disk {
  /** @type {Map<number, Uint8Array>} */
  files = new Map();
  /** @type {Map<number, Map<string, number>>} */
  directories = new Map();

  /** @param {any} tree as DiskRecorder.initial */
  add(tree) {
    if (tree.bytes) this.files.set(tree.object, tree.bytes);
    else {
      const names = new Map();
      this.directories.set(tree.object, names);
      for (const [name, child] of tree.entries) {
        names.set(name, child.object);
        this.add(child);
      }
    }
  }

  /** @param {import('./power-record.mjs').Entry} entry */
  setName({ dir, name, object }) {
    let names = this.directories.get(dir);
    if (!names) {
      names = new Map();
      this.directories.set(dir, names);
    }
    if (object === null) names.delete(name);
    else names.set(name, object);
  }

  copy() {
    const copy = new Disk();
    copy.files = new Map(this.files);
    copy.directories = new Map([...this.directories].map(([dir, names]) => [dir, new Map(names)]));
    return copy;
  }

  /** Of the names and contents below a directory. @param {number} object @returns {string} */
  digest(object) {
    const names = this.directories.get(object);
    if (!names) return contentDigest(this.files.get(object) ?? NOTHING);
    const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
    return digestOf(sorted.flatMap(([name, child]) => [name, this.digest(child)]));
  }

  /** @param {number} object @param {string} path */
  write(object, path) {
    const names = this.directories.get(object);
    if (!names) {
      writeFileSync(path, this.files.get(object) ?? NOTHING);
      return;
    }
    mkdirSync(path, { recursive: true });
    for (const [name, child] of names) this.write(child, join(path, name));
  }
}

/**
 * @param {import('./power-record.mjs').DiskRecorder} recorder
 * @param {{ seeds: number, choose: (below: number) => number }} options
 * @returns {Generator<Crash>}
 */
export function* treeCrashes({ log, initial }, { seeds, choose }) {
  const durable = new Disk();
  durable.add(initial);
  /** @type {Set<number>} */
  const folders = new Set(durable.directories.keys());
  /** @type {Change[]} */
  let pending = [];
  /** @type {any[]} */
  const promised = [];
  for (const [number, step] of log.entries()) {
    if (step.kind === 'promise') promised.push(step.what);
    else if (step.kind === 'sync') pending = settle(durable, pending, step);
    else {
      pending.push({ ...step, number });
      if (step.kind === 'entries' && step.isDirectory)
        folders.add(/** @type {number} */ (step.entries[0].object));
    }
    if (step.kind === 'sync') continue;
    // A promise is a separate step: all that is not durable may be gone after it.
    const outcomes =
      step.kind === 'promise' ? afterPromise(pending, seeds, choose) : outcomesOf(pending, seeds, choose);
    for (const [what, versionOf] of outcomes) {
      const disk = found(durable, pending, versionOf, folders);
      yield {
        name: `step ${number} (${step.kind}): ${what}`,
        promised: [...promised],
        digest: () => disk.digest(initial.object),
        write: (directory) => disk.write(initial.object, directory),
      };
    }
  }
}

/** Makes durable what a sync covers; returns the rest. @param {Disk} durable @param {Change[]} pending @param {{ object: number, since: number }} sync */
function settle(durable, pending, { object, since }) {
  /** @type {Change[]} */
  const rest = [];
  for (const change of pending) {
    if (change.number >= since) rest.push(change);
    else if (change.kind === 'entries') {
      const [first, second] = change.entries;
      if (first.dir === object || second?.dir === object) durable.setName(first);
      else {
        rest.push(change);
        continue;
      }
      // The name in another directory may stay until that is synced too.
      if (second?.dir === object) durable.setName(second);
      else if (second) rest.push({ ...change, entries: [second] });
    } else if (change.file === object) {
      durable.files.set(object, applied(durable.files.get(object), change));
    } else rest.push(change);
  }
  return rest;
}

/** @typedef {(change: Change, sector: number) => boolean} IsThere whether a change has reached the disk, sector by sector; names are sector 0 */

/** @param {Change[]} pending @param {number} seeds @param {(below: number) => number} choose @returns {Generator<[string, IsThere]>} */
function* outcomesOf(pending, seeds, choose) {
  const last = pending[pending.length - 1];
  yield ['dropped with all before it', () => false];
  yield ['there with all before it', () => true];
  yield ['missing, all before it there', (change) => change !== last];
  const sectors = sectorsOf(last);
  // A sector that is there holds what earlier writes made of it, too.
  const isShared = (/** @type {Change} */ change, /** @type {number} */ sector) =>
    change.kind === 'write' && last.kind === 'write' && change.file === last.file && sectors.includes(sector);
  yield ['there, all before it missing', (change, sector) => change === last || isShared(change, sector)];
  for (const boundary of sectors.slice(1)) {
    yield [`torn before sector ${boundary}`, (change, sector) => change !== last || sector < boundary];
    yield [`torn up to sector ${boundary}`, (change, sector) => change !== last || sector >= boundary];
  }
  yield* mixtures(pending, seeds, choose);
}

/** @param {Change[]} pending @param {number} seeds @param {(below: number) => number} choose @returns {Generator<[string, IsThere]>} */
function* afterPromise(pending, seeds, choose) {
  yield ['all that was not synced is gone', () => false];
  yield* mixtures(pending, seeds, choose);
}

/**
 * A sector holds what one write made of it and all before, or what was there before any of them; names come each by themselves.
 * @param {Change[]} pending @param {number} seeds @param {(below: number) => number} choose @returns {Generator<[string, IsThere]>}
 */
function* mixtures(pending, seeds, choose) {
  if (pending.length === 0) return;
  const last = pending[pending.length - 1].number;
  const first = pending[0].number;
  for (let i = 0; i < seeds; i++) {
    /** @type {Map<string, number>} */
    const versions = new Map();
    yield [
      `mixture ${i}`,
      (change, sector) => {
        const key = change.kind === 'entries' ? `name ${change.number}` : `${change.file} ${sector}`;
        let version = versions.get(key);
        if (version === undefined) {
          version = change.kind === 'entries' ? choose(2) * (last + 1) : first + choose(last - first + 2);
          versions.set(key, version);
        }
        return change.number < version;
      },
    ];
  }
}

/** @param {Disk} durable @param {Change[]} pending @param {IsThere} isThere @param {Set<number>} folders */
function found(durable, pending, isThere, folders) {
  const disk = durable.copy();
  for (const change of pending) {
    if (change.kind === 'entries') {
      if (isThere(change, 0)) for (const entry of change.entries) disk.setName(entry);
    } else if (change.kind === 'truncate') {
      if (isThere(change, Math.ceil(change.size / SECTOR)))
        disk.files.set(change.file, applied(disk.files.get(change.file), change));
    } else {
      for (const sector of sectorsOf(change)) {
        if (!isThere(change, sector)) continue;
        const from = Math.max(change.position, sector * SECTOR);
        const to = Math.min(change.position + change.bytes.length, (sector + 1) * SECTOR);
        const bytes = change.bytes.subarray(from - change.position, to - change.position);
        disk.files.set(
          change.file,
          applied(disk.files.get(change.file), { ...change, position: from, bytes }),
        );
      }
    }
  }
  for (const folder of folders) if (!disk.directories.has(folder)) disk.directories.set(folder, new Map());
  return disk;
}

/** @param {Change} change @returns {number[]} */
function sectorsOf(change) {
  if (change.kind !== 'write' || change.bytes.length === 0) return [];
  const first = Math.floor(change.position / SECTOR);
  const last = Math.floor((change.position + change.bytes.length - 1) / SECTOR);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** @param {Uint8Array | undefined} before @param {Change} change */
function applied(before = new Uint8Array(0), change) {
  if (change.kind === 'truncate') {
    const cut = new Uint8Array(change.size);
    cut.set(before.subarray(0, change.size));
    return cut;
  }
  if (change.kind !== 'write') return before;
  const after = new Uint8Array(Math.max(before.length, change.position + change.bytes.length));
  after.set(before);
  after.set(change.bytes, change.position);
  return after;
}
