/** Compiled code as WebAssembly: its module, and memory for its instances. */
import { UscopeError } from './errors.js';

/** The module of a kernel, compiled when it is first asked for; null without WebAssembly, and where a page may not compile any. */
export function compiledOnce(bytes: () => Uint8Array<ArrayBuffer>): () => WebAssembly.Module | null {
  let compiled: WebAssembly.Module | null | undefined;
  return () => {
    compiled = compiled === undefined ? compile(bytes) : compiled;
    return compiled;
  };
}

function compile(bytes: () => Uint8Array<ArrayBuffer>): WebAssembly.Module | null {
  try {
    return new WebAssembly.Module(bytes());
  } catch {
    return null;
  }
}

/** What an instance of compiled code offers. @throws UscopeError ENV_MEMORY */
export function instanceOf<T>(module: WebAssembly.Module, imports = {}): T {
  return reserved(() => new WebAssembly.Instance(module, imports).exports) as T;
}

/** Makes a memory, or what has one. Each reserves about 10 GB of addresses, of which few are used. @throws UscopeError ENV_MEMORY */
export function reserved<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UscopeError(
      'ENV_MEMORY',
      `compiled code gets no memory${limitText()}: it reserves 10 GB of addresses for each of its memories; raise the limit (ulimit -v), or start Node with --disable-wasm-trap-handler, which needs no such reserve`,
      {},
      { cause },
    );
  }
}

/** The limit of addresses of a process of Node; '' where there is none. */
function limitText(): string {
  const report = globalThis.process?.report?.getReport() as
    | { readonly userLimits?: { readonly virtual_memory_kbytes?: { readonly soft?: unknown } } }
    | undefined;
  // The name is wrong: they are bytes.
  const bytes = Number(report?.userLimits?.virtual_memory_kbytes?.soft);
  return bytes > 0 ? ` within the limit of ${(bytes / 1e9).toFixed(1)} GB of addresses` : '';
}
