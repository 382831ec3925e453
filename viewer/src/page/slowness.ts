/** Whether the page has to do without threads or without WebAssembly: it works, and says that it is slower. */
import { effect, signal } from '@preact/signals';
import { addProblem, removeProblems } from './problems.js';

export const isSlow = signal(false);

/** A module with nothing in it. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

function compiles(): boolean {
  try {
    return new WebAssembly.Module(EMPTY) instanceof WebAssembly.Module;
  } catch {
    return false;
  }
}

/** Once, at the start of the page. */
export function tellWhenSlow(): void {
  const hasWasm = compiles();
  effect(() => {
    if (hasWasm && !isSlow.value) return;
    removeProblems(['VIEW_SLOW']);
    const lacking = [isSlow.value ? 'start threads' : '', hasWasm ? '' : 'use WebAssembly'].filter(Boolean);
    addProblem({
      code: 'VIEW_SLOW',
      what: `This page may not ${lacking.join(' or ')}: it shows everything, but slower.`,
      advice:
        location.protocol === 'file:'
          ? 'Browsers restrict pages that are opened from a disk. `uscope view FILE`, or any web server, makes it fast.'
          : "The policy of the page's server forbids it (Content-Security-Policy): allow worker-src 'self' and script-src 'wasm-unsafe-eval'.",
      isFatal: false,
    });
  });
}
