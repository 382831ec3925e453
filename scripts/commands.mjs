// @ts-check
/** The commands that steps of `npm test` and `npm run test:long` run. */

/** @typedef {import('./step.mjs').Command} Command */

/**
 * @param {string} title
 * @param {string} path of a Node program below node_modules
 * @param {string[]} args
 * @returns {Command}
 */
export function nodeTool(title, path, args) {
  return { title, command: process.execPath, args: [`node_modules/${path}`, ...args] };
}

/**
 * @param {string} title
 * @param {string} folder
 * @param {string[]} targets
 * @returns {Command}
 */
export function make(title, folder, targets = []) {
  return { title, command: 'make', args: ['-C', folder, '--no-print-directory', ...targets] };
}

/**
 * @param {string} title
 * @param {string} path of a Node program of the repository
 * @param {string[]} args
 * @param {string[]} flags of Node
 * @returns {Command}
 */
export function script(title, path, args = [], flags = []) {
  return { title, command: process.execPath, args: [...flags, path, ...args] };
}
