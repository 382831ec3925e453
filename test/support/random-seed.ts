/**
 * The random cases of properties (fast-check) are the same in each run, so that a change that passes here passes elsewhere: a setup file of
 * vitest. `USCOPE_SEED=N` tries others; `npm run test:long -- --seed random` does so for as long as it is given.
 */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

const seed = Number(process.env.USCOPE_SEED ?? 1);
if (!Number.isSafeInteger(seed))
  throw new Error(`USCOPE_SEED=${process.env.USCOPE_SEED} is not a whole number`);
configureGlobal({ ...readConfigureGlobal(), seed });
