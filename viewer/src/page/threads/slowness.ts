/** Whether the page has to do without threads: it works, and says that it is slower. */
import { effect, signal } from '@preact/signals';
import { addProblem, removeProblems } from '../problems.js';

export const isSlow = signal(false);

/** Once, at the start of the page. */
export function tellWhenSlow(): void {
  effect(() => {
    if (!isSlow.value) return;
    removeProblems(['VIEW_SLOW']);
    addProblem({
      code: 'VIEW_SLOW',
      what: 'This page may not start threads: it shows everything, but slower.',
      advice:
        location.protocol === 'file:'
          ? 'Browsers restrict pages that are opened from a disk. `uscope view FILE`, or any web server, makes it fast.'
          : "The policy of the page's server forbids it (Content-Security-Policy): allow worker-src 'self'.",
      isFatal: false,
    });
  });
}
