/** The compiled LZ4 compression as WebAssembly, over the memory of one writer. */
import { decodeBase64 } from '../base/base64.js';
import { instanceOf } from '../base/compiled-code.js';
import type { Lz4Compress } from './kernel-exports.js';
import { WASM_BASE64 } from './lz4-wasm.js';

let compiled: WebAssembly.Module | null = null;

export function bindWasmLz4(memory: WebAssembly.Memory): Lz4Compress {
  compiled ??= new WebAssembly.Module(decodeBase64(WASM_BASE64));
  return instanceOf<{ lz4_compress: Lz4Compress }>(compiled, { env: { memory } }).lz4_compress;
}
