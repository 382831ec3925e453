// @ts-check
/**
 * Keeps a log of what a program does to the files and directories below one directory, while it does it: writes, truncations, names given and taken,
 * and every sync. It precedes Node's own functions, so that no part of the program can leave it out; a function that changes files in a way
 * that the log does not know fails.
 */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, resolve, sep } from 'node:path';

/**
 * `entries`: names of directories, by the directory's number, that get a file or lose it (null).
 * `since`: what a sync makes durable was in the log before this place.
 * @typedef {{ dir: number, name: string, object: number | null }} Entry
 * @typedef {{ kind: 'write', file: number, position: number, bytes: Uint8Array }
 *   | { kind: 'truncate', file: number, size: number }
 *   | { kind: 'entries', entries: Entry[], isDirectory?: boolean }
 *   | { kind: 'sync', object: number, since: number }
 *   | { kind: 'promise', what: any }} Step
 */

/** What may change a file, and is not in the log. */
const UNKNOWN = ['appendFile', 'copyFile', 'cp', 'symlink', 'truncate', 'writeFile', 'mkdtemp'];
const UNKNOWN_SYNC = [
  'appendFileSync',
  'copyFileSync',
  'cpSync',
  'renameSync',
  'linkSync',
  'symlinkSync',
  'truncateSync',
  'writeFileSync',
  'unlinkSync',
  'rmSync',
  'mkdirSync',
  'rmdirSync',
];

export class DiskRecorder {
  /** @type {Step[]} */
  log = [];
  /** Number of each file and directory by its inode; numbers are not used again. @type {Map<bigint, number>} */
  #objects = new Map();
  #next = 1;
  /** @type {Map<number, number>} */
  #byFd = new Map();
  /** @type {(() => void)[]} */
  #undo = [];

  /** @param {string} root has to be there; what is in it counts as durable */
  constructor(root) {
    this.root = resolve(root);
    this.initial = this.#scan(this.root);
  }

  /** From here on everything promised so far must survive. @param {any} what */
  promise(what) {
    this.log.push({ kind: 'promise', what });
  }

  start() {
    this.#replaceNames();
    this.#replaceFiles();
    for (const name of UNKNOWN) this.#refuse(fsp, name);
    for (const name of UNKNOWN_SYNC) this.#refuse(fs, name);
    syncBuiltinESMExports();
  }

  stop() {
    for (const undo of this.#undo.splice(0)) undo();
    syncBuiltinESMExports();
  }

  /** @param {string} path @returns {any} */
  #scan(path) {
    const stat = fs.statSync(path, { bigint: true });
    const object = this.#numberOf(stat.ino);
    if (!stat.isDirectory()) return { object, bytes: new Uint8Array(fs.readFileSync(path)) };
    const entries = fs.readdirSync(path).map((name) => [name, this.#scan(`${path}${sep}${name}`)]);
    return { object, entries: new Map(/** @type {any} */ (entries)) };
  }

  /** @param {bigint} ino */
  #numberOf(ino) {
    const known = this.#objects.get(ino);
    if (known !== undefined) return known;
    this.#objects.set(ino, this.#next);
    return this.#next++;
  }

  /** @param {unknown} path */
  #isOurs(path) {
    return (
      typeof path === 'string' && (resolve(path) === this.root || resolve(path).startsWith(this.root + sep))
    );
  }

  /** @param {string} path */
  #objectAt(path) {
    const stat = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat ? this.#numberOf(stat.ino) : null;
  }

  /** @param {string} path @param {number | null} object @returns {Entry} */
  #entry(path, object) {
    return { dir: this.#objectAt(dirname(resolve(path))) ?? 0, name: basename(resolve(path)), object };
  }

  /** @param {any} target @param {string} name @param {(original: any) => any} make */
  #replace(target, name, make) {
    const original = target[name];
    target[name] = make(original);
    this.#undo.push(() => {
      target[name] = original;
    });
  }

  /** @param {any} target @param {string} name */
  #refuse(target, name) {
    this.#replace(target, name, (original) => (/** @type {any[]} */ ...args) => {
      if (args.slice(0, 2).some((path) => this.#isOurs(path)))
        throw new Error(`the model of a disk that loses power does not know ${name}`);
      return original(...args);
    });
  }

  #replaceNames() {
    this.#replace(
      fsp,
      'rename',
      (original) => async (/** @type {string} */ from, /** @type {string} */ to) => {
        if (!this.#isOurs(to)) return original(from, to);
        const object = this.#objectAt(from);
        const replaced = fs.lstatSync(to, { bigint: true, throwIfNoEntry: false });
        await original(from, to);
        if (replaced?.nlink === 1n) this.#objects.delete(replaced.ino);
        this.log.push({ kind: 'entries', entries: [this.#entry(to, object), this.#entry(from, null)] });
      },
    );
    this.#replace(fsp, 'link', (original) => async (/** @type {string} */ from, /** @type {string} */ to) => {
      await original(from, to);
      if (this.#isOurs(to))
        this.log.push({ kind: 'entries', entries: [this.#entry(to, this.#objectAt(from))] });
    });
    for (const name of ['unlink', 'rmdir', 'rm']) {
      this.#replace(
        fsp,
        name,
        (original) =>
          async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
            if (!this.#isOurs(path)) return original(path, ...rest);
            const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
            await original(path, ...rest);
            if (!stat) return;
            this.log.push({ kind: 'entries', entries: [this.#entry(path, null)] });
            // The system gives the number of a file that is gone to another.
            if (stat.nlink === 1n || stat.isDirectory()) this.#objects.delete(stat.ino);
          },
      );
    }
    this.#replace(
      fsp,
      'mkdir',
      (original) =>
        async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
          const made = await original(path, ...rest);
          if (this.#isOurs(path)) {
            const entries = [this.#entry(path, this.#objectAt(path))];
            this.log.push({ kind: 'entries', entries, isDirectory: true });
          }
          return made;
        },
    );
  }

  #replaceFiles() {
    this.#replace(
      fsp,
      'open',
      (original) =>
        async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
          if (!this.#isOurs(path)) return original(path, ...rest);
          const isThere = fs.existsSync(path);
          const handle = await original(path, ...rest);
          const object = this.#numberOf(fs.fstatSync(handle.fd, { bigint: true }).ino);
          if (!isThere) this.log.push({ kind: 'entries', entries: [this.#entry(path, object)] });
          return this.#watch(handle, object);
        },
    );
    this.#replace(
      fs,
      'writev',
      (original) =>
        (
          /** @type {any} */ fd,
          /** @type {any} */ chunks,
          /** @type {any} */ position,
          /** @type {any} */ done,
        ) => {
          const file = this.#byFd.get(fd);
          if (file === undefined) return original(fd, chunks, position, done);
          const bytes = Buffer.concat(chunks);
          return original(fd, chunks, position, (/** @type {any} */ error, /** @type {number} */ written) => {
            if (!error)
              this.log.push({
                kind: 'write',
                file,
                position,
                bytes: Uint8Array.from(bytes.subarray(0, written)),
              });
            done(error, written);
          });
        },
    );
    this.#replace(fs, 'fdatasync', (original) => (/** @type {any} */ fd, /** @type {any} */ done) => {
      const object = this.#byFd.get(fd);
      const since = this.log.length;
      return original(fd, (/** @type {any} */ error) => {
        if (!error && object !== undefined) this.log.push({ kind: 'sync', object, since });
        done(error);
      });
    });
  }

  /** @param {any} handle @param {number} object */
  #watch(handle, object) {
    const { fd } = handle;
    this.#byFd.set(fd, object);
    const close = handle.close.bind(handle);
    handle.close = async () => {
      this.#byFd.delete(fd);
      await close();
    };
    const truncate = handle.truncate.bind(handle);
    handle.truncate = async (/** @type {number} */ size) => {
      await truncate(size);
      this.log.push({ kind: 'truncate', file: object, size });
    };
    for (const name of ['sync', 'datasync']) {
      const sync = handle[name].bind(handle);
      handle[name] = async () => {
        const since = this.log.length;
        await sync();
        this.log.push({ kind: 'sync', object, since });
      };
    }
    const writeFile = handle.writeFile.bind(handle);
    handle.writeFile = async (/** @type {string} */ text) => {
      await writeFile(text);
      this.log.push({ kind: 'write', file: object, position: 0, bytes: new TextEncoder().encode(text) });
    };
    for (const name of ['write', 'writev', 'appendFile', 'createWriteStream']) {
      handle[name] = () => {
        throw new Error(`the model of a disk that loses power does not know FileHandle.${name}`);
      };
    }
    return handle;
  }
}
