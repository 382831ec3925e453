// @ts-check
/**
 * One circle per violation, found by a depth-first walk.
 * @param {ReadonlyMap<string, readonly string[]>} graph file -> the files that it imports
 * @returns {{ file: string, rule: string }[]}
 */
export function findCycles(graph) {
  /** @type {{ file: string, rule: string }[]} */
  const cycles = [];
  const done = new Set();
  /** @type {string[]} */
  const path = [];
  /** @param {string} file */
  const visit = (file) => {
    const at = path.indexOf(file);
    if (at >= 0) {
      cycles.push({ file, rule: `imports itself in a circle: ${[...path.slice(at), file].join(' -> ')}` });
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const name of graph.get(file) ?? []) if (graph.has(name)) visit(name);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}
