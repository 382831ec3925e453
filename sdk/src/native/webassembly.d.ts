/** The little of WebAssembly that the SDK uses: neither lib.es nor the types of Node 20 declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static customSections(module: Module, name: string): ArrayBuffer[];
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true });
    readonly buffer: SharedArrayBuffer;
    /** Pages of 64 KiB. */
    grow(pages: number): number;
  }
}
