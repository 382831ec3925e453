// @ts-check
/**
 * A disk that loses power. It is under the writer as its file layer (`openOutput`), keeps a log of everything the writer does, and gives back
 * any state in which a real disk could be found afterwards.
 *
 * What a sync has completed stays. Of everything since, the disk holds sector by sector (512 bytes, written whole or not at all) any version it
 * ever had: dropped, reordered and torn writes are all of this kind.
 */

export const SECTOR = 512;

/**
 * @typedef {{ kind: 'write', position: number, bytes: Uint8Array } | { kind: 'truncate', size: number } | { kind: 'sync' }} Operation
 * @typedef {{ frames: bigint, strings: bigint }} Promised What the writer has said is durable.
 * @typedef {{ operation: Operation, promised: Promised }} LogEntry `promised`: before the operation.
 */

export class PowerDisk {
  /** @type {LogEntry[]} */
  log = [];
  /** @type {Promised} */
  promised = { frames: 0n, strings: 0n };
  /** @type {Uint8Array} */
  #bytes;
  #size;

  /** @param {Uint8Array} content what is on the disk before, durable */
  constructor(content = new Uint8Array(0)) {
    this.initial = content.slice();
    this.#bytes = content.slice();
    this.#size = content.length;
  }

  /** The file as the running system sees it. */
  get content() {
    return this.#bytes.slice(0, this.#size);
  }

  /** For `WriterOptions.openOutput`: there is one file, whatever its path. */
  open = async (/** @type {string} */ path) => {
    const disk = this;
    return {
      path,
      /** @param {readonly Uint8Array[]} chunks @param {number} position */
      async write(chunks, position) {
        disk.#write(Buffer.concat(chunks), position);
      },
      /** @param {number} position @param {number} length */
      async read(position, length) {
        return disk.#bytes.slice(position, Math.min(position + length, disk.#size));
      },
      async sync() {
        // Other work continues meanwhile, as it does while a real disk is busy: segments pile up for the next group.
        await new Promise((resolve) => setImmediate(resolve));
        disk.#note({ kind: 'sync' });
      },
      async syncDirectory() {},
      async size() {
        return disk.#size;
      },
      /** @param {number} size */
      async truncate(size) {
        disk.#note({ kind: 'truncate', size });
        disk.#bytes.fill(0, size);
        disk.#size = size;
      },
      async close() {},
    };
  };

  /** @param {Operation} operation */
  #note(operation) {
    this.log.push({ operation, promised: this.promised });
  }

  /** @param {Uint8Array} bytes @param {number} position */
  #write(bytes, position) {
    if (bytes.length === 0) return;
    this.#note({ kind: 'write', position, bytes: Uint8Array.from(bytes) });
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#size = Math.max(this.#size, end);
  }
}

/**
 * @typedef {object} Crash
 * @property {string} name Which write, and what became of it.
 * @property {Uint8Array} image The file as it is found.
 * @property {Promised} promised What must be in it.
 * @property {boolean} created The creation of the file had been completed.
 */

/**
 * Every write of a log, each with what may have become of it: dropped with all that was not synced; alone on the disk; missing while all before it
 * is there; torn at each sector boundary, from the front and from the back; and `random` mixtures of sector versions.
 * @param {PowerDisk} disk
 * @param {{ random: number, choose: (below: number) => number }} options
 * @returns {Generator<Crash>}
 */
export function* crashes(disk, { random, choose }) {
  /** @type {Uint8Array} */
  let durable = disk.initial.slice();
  let created = disk.initial.length > 0;
  /** @type {Operation[]} */
  let pending = [];
  let number = 0;
  for (const { operation, promised } of disk.log) {
    if (operation.kind === 'sync') {
      durable = apply(durable, pending);
      pending = [];
      created = true;
      continue;
    }
    pending.push(operation);
    const label = `write ${number++}`;
    const versions = new SectorVersions(durable, pending);
    for (const [what, image] of outcomes(versions, random, choose)) {
      yield { name: `${label}: ${what}`, image, promised, created };
    }
  }
}

/**
 * @param {SectorVersions} versions
 * @param {number} random
 * @param {(below: number) => number} choose
 * @returns {Generator<[string, Uint8Array]>}
 */
function* outcomes(versions, random, choose) {
  const { last, count } = versions;
  yield ['dropped with all before it', versions.image(() => 0)];
  yield ['there with all before it', versions.image(() => count)];
  yield ['missing, all before it there', versions.image(() => count - 1)];
  yield ['there, all before it missing', versions.image((sector) => (last.includes(sector) ? count : 0))];
  for (let cut = 1; cut < last.length; cut++) {
    const boundary = last[cut];
    yield [`torn before sector ${cut}`, versions.image((sector) => (sector < boundary ? count : count - 1))];
    yield [`torn up to sector ${cut}`, versions.image((sector) => (sector < boundary ? count - 1 : count))];
  }
  for (let i = 0; i < random; i++) yield [`mixture ${i}`, versions.image(() => choose(count + 1))];
}

/** The versions every sector has had since the last sync: 0 is what was durable, n what it was after n operations. */
class SectorVersions {
  /** @param {Uint8Array} durable @param {readonly Operation[]} pending */
  constructor(durable, pending) {
    this.durable = durable;
    this.pending = pending;
    this.count = pending.length;
    this.last = sectorsOf(pending[pending.length - 1]);
  }

  /**
   * The file with each sector in the version chosen; it is as long as the last byte that came to be on the disk. A truncation counts with the
   * version chosen for the first sector it cuts.
   * @param {(sector: number) => number} versionOf
   */
  image(versionOf) {
    /** @type {Uint8Array} */
    let bytes = this.durable.slice();
    const chosen = new Map();
    const version = (/** @type {number} */ sector) => {
      if (!chosen.has(sector)) chosen.set(sector, versionOf(sector));
      return chosen.get(sector);
    };
    this.pending.forEach((operation, index) => {
      if (operation.kind === 'truncate') {
        if (version(Math.ceil(operation.size / SECTOR)) > index) bytes = bytes.slice(0, operation.size);
        return;
      }
      if (operation.kind !== 'write') return;
      for (const sector of sectorsOf(operation)) {
        if (version(sector) > index) bytes = put(bytes, part(operation, sector));
      }
    });
    return bytes;
  }
}

/** @param {Operation} operation @returns {number[]} */
function sectorsOf(operation) {
  if (operation.kind !== 'write') return [];
  const first = Math.floor(operation.position / SECTOR);
  const last = Math.floor((operation.position + operation.bytes.length - 1) / SECTOR);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/**
 * The bytes of a write that lie in one sector.
 * @param {{ position: number, bytes: Uint8Array }} write
 * @param {number} sector
 */
function part({ position, bytes }, sector) {
  const from = Math.max(position, sector * SECTOR);
  const to = Math.min(position + bytes.length, (sector + 1) * SECTOR);
  return { position: from, bytes: bytes.subarray(from - position, to - position) };
}

/**
 * @param {Uint8Array} file
 * @param {{ position: number, bytes: Uint8Array }} write
 */
function put(file, { position, bytes }) {
  const end = position + bytes.length;
  let target = file;
  if (end > file.length) {
    target = new Uint8Array(end);
    target.set(file);
  }
  target.set(bytes, position);
  return target;
}

/** @param {Uint8Array} file @param {readonly Operation[]} operations */
function apply(file, operations) {
  return operations.reduce((bytes, operation) => {
    if (operation.kind === 'truncate') return bytes.slice(0, operation.size);
    return operation.kind === 'write' ? put(bytes, operation) : bytes;
  }, file);
}
