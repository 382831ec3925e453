/** The kernels as modules: written by the build (scripts/wasm-modules.mjs), and made when they are loaded where the sources run. */
declare module '*.wasm.js' {
  export const bytes: () => Uint8Array<ArrayBuffer>;
}
