// @ts-check
/**
 * A reporter of vitest: how long each test file took, from the start of its imports to its last hook. The JSON report has only the time
 * between its tests' first start and last end: what a `beforeAll` builds is not in it. Writes lines of JSON, {"file", "seconds"}, to the
 * file that the environment variable USCOPE_FILE_TIMES names.
 */
import { appendFileSync } from 'node:fs';

export default class FileTimes {
  #list = process.env.USCOPE_FILE_TIMES ?? '';

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    if (this.#list === '') return;
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const seconds = (collectDuration + setupDuration + duration) / 1000;
    appendFileSync(this.#list, `${JSON.stringify({ file: module.moduleId, seconds })}\n`);
  }
}
