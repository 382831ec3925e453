/** Builds the demo's simulators once, for tests that each make sure of theirs and must not build the same one at once. */
import { FAST_BUILD, make, makeTraced, makeUntraced } from '../../verilator-demo/lib/simulator.js';

export default function setup(): void {
  makeTraced();
  makeUntraced();
  make('soc', ...FAST_BUILD);
}
