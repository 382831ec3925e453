/** Kernels in WebAssembly: their modules, and memory for their instances. */
import { UscopeError } from './errors.js';

/** Compiles the module of a kernel when it is first asked for. @throws UscopeError ENV_KERNEL */
export function moduleOnce(bytes: () => Uint8Array<ArrayBuffer>): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= compile(bytes);
    return compiled;
  };
}

function compile(bytes: () => Uint8Array<ArrayBuffer>): WebAssembly.Module {
  const code = bytes();
  try {
    return new WebAssembly.Module(code);
  } catch (cause) {
    throw new UscopeError(
      'ENV_KERNEL',
      'WebAssembly may not run here: start Node without --jitless, or let the policy of the page (Content-Security-Policy) have "wasm-unsafe-eval" in its script-src',
      {},
      { cause },
    );
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
