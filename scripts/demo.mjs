// @ts-check
/**
 * `npm run demo`: sets up what is missing, builds the RISC-V core with Verilator and traces it through the whole path.
 * Arguments are handed to verilator-demo/demo.mjs.
 */
import { build, runScript, SetupError, setUpPackages } from './setup.mjs';
import { run, runStep } from './step.mjs';

/** Several cores are another simulator: `npm run demo -- --cores 4`. */
const wantsSeveral = process.argv.some((argument) => argument.startsWith('--cores'));
/** So is the out-of-order core: `npm run demo -- --core o3`. */
const wantsO3 = /--core[ =]o3/.test(process.argv.join(' '));
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
