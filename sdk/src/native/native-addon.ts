/**
 * The addon that `make -C sdk/kernel/native` builds: machine code for those who have a C compiler. Whatever it does is done without it
 * too, only slower.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SOURCES_SHA256 } from './native-sources.js';

/** From here, in src as in dist. */
const ADDON = '../../kernel/native/build/kernel.node';

/** An open run. */
export type Handle = object;
/** Threads that compress. */
export type Pool = object;
type TakeString = (word: number) => void;
type TakeBucket = (source: number) => void;
/** Makes the index of one trace's segments, in their order. */
export type Indexer = object;
/** Makes the levels of one trace's index directory. */
export type Levels = object;
type BlockDone = (number: number, size: number, checksum: number, container?: ArrayBuffer) => void;

/** See sdk/kernel/native/addon.c. */
export interface Addon {
  /** Digest of everything it was built from. */
  readonly sources: string;
  openRun(memory: Uint8Array, run: number): Handle;
  frameRun(handle: Handle, records: Uint32Array, takeString: TakeString, takeBucket: TakeBucket): void;
  encodeCheckpoint(handle: Handle, target: number): void;
  sumsAdd(handle: Handle, source: number, lo: number, hi: number): void;
  sumsEndFrame(handle: Handle, lo: number, hi: number, takeBucket: TakeBucket): void;
  sumsAbortFrame(handle: Handle): void;
  sumsClose(handle: Handle, takeBucket: TakeBucket): void;
  lz4Compress(memory: Uint8Array, table: number, source: number, size: number, target: number): number;
  openPool(threads: number, done: BlockDone): Pool;
  poolCompress(
    pool: Pool,
    memory: Uint8Array,
    number: number,
    table: number,
    source: number,
    size: number,
    target: number,
    prefix: number,
  ): void;
  /** null: the schema is too large. @param carry null: not known */
  openIndexer(plan: Uint32Array, crc: number, carry: Uint8Array | null): Indexer | null;
  /** @param copy 1: frames may change at once, 0: when it is done; the checkpoint may when it is done */
  poolIndex(
    pool: Pool,
    indexer: Indexer,
    number: number,
    frames: Uint8Array,
    checkpoint: Uint8Array,
    startLo: number,
    startHi: number,
    copy: number,
  ): void;
  /** null: the schema is too large. */
  openLevels(
    plan: Uint32Array,
    startLo: number,
    startHi: number,
    endLo: number,
    endHi: number,
  ): Levels | null;
  /** What was put out (sdk/kernel/index/directory.h); null: it cannot be made this way. */
  levelsAdd(levels: Levels, parts: Uint8Array, count: number): ArrayBuffer | null;
  levelsFinish(levels: Levels, endLo: number, endHi: number): ArrayBuffer | null;
  /** Returns an UnfoldStop of sdk/src/bridge/session/unfold-lanes.ts, which does the same. */
  unfoldLanes(unfold: Uint32Array, words: Uint32Array, piece: Uint32Array): number;
  mapFile(fd: number, size: number): ArrayBuffer | null;
  unmapFile(buffer: ArrayBuffer): void;
}

let addon: Addon | null | undefined;

/** null when it is not built, or for another machine, or from other sources than those of this version. */
export function loadAddon(): Addon | null {
  if (addon === undefined) addon = tryLoad();
  return addon;
}

/** Where it is; null as above. */
export function nativeAddonPath(): string | null {
  return loadAddon() === null ? null : fileURLToPath(new URL(ADDON, import.meta.url));
}

function tryLoad(): Addon | null {
  try {
    const found = createRequire(import.meta.url)(ADDON) as Addon;
    return found.sources === SOURCES_SHA256 ? found : null;
  } catch {
    return null;
  }
}
