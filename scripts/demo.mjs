// @ts-check
/**
 * `npm run demo`: sets up what is missing, builds the RISC-V core with Verilator and traces it through the whole path.
 * Arguments are handed to verilator-demo/demo.mjs.
 */
import { readArguments } from '../verilator-demo/lib/arguments.mjs';
import { build, runScript, SetupError, setUpPackages } from './setup.mjs';
import { run, runStep } from './step.mjs';

// Wrong arguments, and --help, end here, before anything is built.
const { options } = readArguments();
/** Several cores, and the out-of-order core, are other simulators. */
const wantsSeveral = options.cores > 1;
const wantsO3 = options.core === 'o3';
const targets = wantsO3 ? ['o3'] : wantsSeveral ? ['all', 'soc'] : [];

await runScript(async () => {
  await setUpPackages('demo');
  await build();
  const simulator = await runStep({
    title: `build the demo core${wantsSeveral ? 's' : ''} (Verilator)`,
    command: 'make',
    args: ['-C', 'verilator-demo', '--no-print-directory', ...targets],
  });
  if (!simulator.ok) throw new SetupError('building the demo core failed', 1);

  console.log();
  const demo = await run({
    title: 'demo',
    command: process.execPath,
    args: ['verilator-demo/demo.mjs', ...process.argv.slice(2)],
    live: true,
  });
  if (!demo.ok) throw new SetupError(`the demo failed (${demo.why})`, 1);
  return 0;
});
