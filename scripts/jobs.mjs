// @ts-check
/** Jobs that run in parallel, a few at a time. */

/**
 * @template T
 * @typedef {object} Job
 * @property {string} name
 * @property {readonly string[]} [needs] Jobs that have ended before this one begins.
 * @property {() => Promise<T>} run
 */

/**
 * Whenever there is room, the first job begins that has what it needs: the long ones belong to the front.
 * @template T
 * @param {readonly Job<T>[]} jobs
 * @param {number} atOnce how many run at a time
 * @returns {Promise<T[]>} What they gave, in the order of `jobs`. When one fails no other begins, and it is rejected with that error once
 *   those that run have ended.
 */
export async function runJobs(jobs, atOnce) {
  /** @type {Map<string, T>} */
  const results = new Map();
  /** @type {Map<string, Promise<void>>} */
  const running = new Map();
  /** @type {unknown[]} */
  const errors = [];
  const waiting = [...jobs];

  /** @param {Job<T>} job */
  const start = async ({ name, run }) => {
    try {
      results.set(name, await run());
    } catch (error) {
      errors.push(error);
    }
    running.delete(name);
  };

  for (;;) {
    while (running.size < atOnce && errors.length === 0) {
      const index = waiting.findIndex(({ needs = [] }) => needs.every((name) => results.has(name)));
      if (index < 0) break;
      const [job] = waiting.splice(index, 1);
      running.set(job.name, start(job));
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (errors.length > 0) throw errors[0];
  if (waiting.length > 0) throw new Error(`${waiting[0].name} needs what is not there`);
  return jobs.map(({ name }) => /** @type {T} */ (results.get(name)));
}
