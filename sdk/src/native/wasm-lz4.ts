/** The compiled LZ4 compression as WebAssembly, over the memory of one writer. */
import { decodeBase64 } from '../base/base64.js';
import type { Lz4Compress } from './kernel-exports.js';
import { WASM_BASE64 } from './lz4-wasm.js';

let compiled: WebAssembly.Module | null = null;

export function bindWasmLz4(memory: WebAssembly.Memory): Lz4Compress {
  compiled ??= new WebAssembly.Module(decodeBase64(WASM_BASE64));
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports.lz4_compress as Lz4Compress;
}
