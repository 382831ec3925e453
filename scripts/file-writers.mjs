// @ts-check
/**
 * Only these sources write, rename or open files themselves. Every other output goes through `writer/output/atomic-file.ts`: an exclusive
 * temporary name, whole or not at all, no link followed, no more access than its source gives. A new entry needs a reason like these.
 */

/** What of node:fs and node:fs/promises can change a file; `open` may, by its flags. */
const WRITING = /^(?:writeFile|appendFile|createWriteStream|copyFile|cp|rename|link|symlink|open)(?:Sync)?$/;

/** @type {ReadonlyMap<string, string>} source below sdk/src -> why it may */
const ALLOWED = new Map([
  ['writer/output/atomic-file.ts', 'the function that all others use'],
  ['writer/output/output-file.ts', 'the file layer of traces while they grow'],
  ['writer/output/own-file.ts', 'reads, without following links'],
  ['writer/output/lock-file.ts', 'the lock protocol'],
  ['writer/output/lock-holder.ts', 'reads locks'],
  ['writer/file/trace-file.ts', 'moves a file that cannot be continued aside'],
  ['writer/ring/spool-start.ts', 'moves a spool that cannot be continued aside'],
  ['writer/ring/spool-files.ts', 'the spool of a flight recorder, written through the file layer'],
  ['writer/ring/recover-records.ts', 'a private directory of mkdtemp'],
  ['reader/node.ts', 'reads'],
  ['semantics/program/node-lines.ts', 'reads sources'],
  ['tools/sidecar/make-sidecar.ts', 'the partial index, which an interrupted run leaves for the next one'],
  ['formats/ftr/sorter.ts', "private scratch in the draft's directory"],
  ['bridge/daemon/orphan-file.ts', 'reads'],
  ['bridge/host/priority.ts', 'files of /proc'],
  ['bridge/wire/descriptors.ts', 'opens the null device, to see that it can'],
  ['bridge/session/client-memory.ts', "reads and maps a client's memory"],
  ['dataset/publish.ts', 'the commit protocol of a dataset'],
  ['dataset/join-commit.ts', 'the commit protocol of a dataset'],
  ['dataset/sync.ts', 'syncs what was written'],
  ['dataset/parquet/parquet-file.ts', "tables in a run's staging directory"],
  ['dataset/tables/retired.ts', "private scratch in a run's staging directory"],
  ['view/trace-file.ts', 'reads, without following links'],
  ['cli/ctrace/ctrace.ts', 'writes into a draft while it reads'],
  ['cli/view/conversion.ts', "renames inside the user's cache"],
  ['cli/view/ring-state.ts', 'reads'],
]);

/** Imports of both modules: the names in braces, or a name for all of it. */
const IMPORTS = /import\s+(type\s+)?([^;'"]*?)\s+from\s+['"](?:node:)?fs(?:\/promises)?['"]/g;

/**
 * @param {ReadonlyMap<string, string>} sources path relative to sdk/src -> text
 * @returns {{ file: string, rule: string }[]} violations
 */
export function checkFileWriters(sources) {
  const violations = [];
  for (const [file, text] of sources) {
    if (file.endsWith('.test.ts')) continue;
    const names = writingImports(text);
    if (names.length === 0 && ALLOWED.has(file)) {
      violations.push({ file, rule: 'writes no files any more: take it out of scripts/file-writers.mjs' });
    } else if (names.length > 0 && !ALLOWED.has(file)) {
      const rule = `imports ${names.join(', ')} of node:fs: outputs go through writer/output/atomic-file.ts`;
      violations.push({ file, rule });
    }
  }
  return violations;
}

/** @param {string} text */
function writingImports(text) {
  return [...text.matchAll(IMPORTS)].flatMap(([, isType, what = '']) => {
    if (isType) return [];
    const names = /\{([^}]*)\}/.exec(what)?.[1];
    if (names === undefined) return [what];
    return names
      .split(',')
      .map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')
      .filter((name) => WRITING.test(name));
  });
}
