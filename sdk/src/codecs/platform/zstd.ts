/** What `#platform/zstd` offers: what there is of native ZSTD in Node (node/zstd.ts), nothing in browsers (browser/zstd.ts). */

/** Node's own, from 22.15 on. */
export interface ZstdOfNode {
  /** @throws Error for a frame that is damaged or holds more than `maxBytes` */
  decompress(frame: Uint8Array, maxBytes: number): Uint8Array;
  /** On a thread of Node's pool. */
  compress(raw: Uint8Array, level: number): Promise<Uint8Array>;
}

/** What is used of the optional package zstd-napi, declared here: the package, and so its types, may be absent where this is compiled. */
export interface ZstdPackage {
  DCtx: new () => {
    decompress(target: Uint8Array, frame: Uint8Array): number;
    decompressStream(
      target: Uint8Array,
      source: Uint8Array,
    ): [unknown: number, produced: number, consumed: number];
    setParameter(parameter: number, value: number): void;
  };
  CCtx: new () => {
    compress(target: Uint8Array, source: Uint8Array, level: number): number;
  };
  DParameter: { windowLogMax: number };
  compressBound(size: number): number;
}
