/** The compiled code of the index (sdk/kernel/index), compiled once, and the memory of its instances. */
import { moduleOnce } from '../../base/webassembly.js';
import { bytes } from '../../wasm/index.wasm.js';

const PAGE_BYTES = 64 * 1024;
const ALIGNMENT = 64;

export interface KernelMemory {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __heap_base: { readonly value: number };
}

/** @throws UscopeError ENV_KERNEL */
export const kernelModule = moduleOnce(bytes);

/** Makes room for this number of bytes; false: there is none. */
export function reserve({ memory }: KernelMemory, bytes: number, maxBytes: number): boolean {
  const missing = bytes - memory.buffer.byteLength;
  if (missing <= 0) return true;
  if (bytes > maxBytes) return false;
  try {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    return true;
  } catch {
    return false;
  }
}

export function aligned(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}
