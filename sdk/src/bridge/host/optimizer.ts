/** When V8 optimizes the functions of the daemon. */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function runs through before it is looked at: ten times what Node 20 has by default. */
const INTERRUPT_BUDGET = 1_350_000;
/** From here on (Node 22) the engine has a quick compiler between the two, counts calls instead, and complains about the flag. */
const FIRST_V8_WITHOUT = 12;

/**
 * The engine optimizes functions later. Most of what a daemon runs it runs a few times per message, where optimizing saves little, and the
 * compiler's threads take the cores that the simulator and the threads that compress need. Loops over records get there all the same.
 */
export function optimizeLate(): void {
  if (Number.parseInt(process.versions.v8, 10) >= FIRST_V8_WITHOUT) return;
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
}
