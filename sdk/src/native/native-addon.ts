/**
 * The writer's loops as machine code: built by `make -C sdk/kernel/native`, or the package's prebuilt one for this machine. WebAssembly does
 * the same, more slowly, where neither loads.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SOURCES_SHA256 } from './native-sources.js';

/** From here, in src as in dist: what was built on this machine comes first. */
const BUILT = '../../kernel/native/build/kernel.node';
const PREBUILT = `../../prebuilt/${process.platform}-${process.arch}/kernel.node`;

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

interface Loaded {
  readonly addon: Addon | null;
  /** Of the addon; null without one. */
  readonly path: string | null;
  /** Why one that is nearer was not taken. */
  readonly refused: readonly string[];
}

let loaded: Loaded | undefined;

/** null when there is none for this machine that was built from the sources of this version. */
export function loadAddon(): Addon | null {
  loaded ??= load();
  return loaded.addon;
}

/** Where it is; null as above. */
export function nativeAddonPath(): string | null {
  loaded ??= load();
  return loaded.path;
}

/** Why there is no addon, or why it is not the one that was built here. */
export function refusedAddons(): readonly string[] {
  loaded ??= load();
  return loaded.refused;
}

function load(): Loaded {
  const require = createRequire(import.meta.url);
  const refused: string[] = [];
  for (const place of [BUILT, PREBUILT]) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (!existsSync(path)) continue;
    try {
      const addon = require(path) as Addon;
      if (addon.sources === SOURCES_SHA256) return { addon, path, refused };
      refused.push(`${path} was built from other sources than those of this version`);
    } catch (failure) {
      refused.push(`${path} does not load: ${(failure as Error).message.split('\n')[0]}`);
    }
  }
  return { addon: null, path: null, refused };
}
