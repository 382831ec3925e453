/** The storages that a query is about. */
import { UscopeError } from '../../base/errors.js';
import type { StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';

/**
 * Those that are named, each once, in the order of the names; without names all of `usual`.
 * @param names paths, storage ids, or own names of storages in `usual`, if those are of one core
 * @param isOfCore whether `usual` are of one core
 * @param isFit whether a storage is of the kind that the query is about
 * @param whyUnfit says what a storage is that is not
 * @throws UscopeError READER_NAME
 */
export function chosenStorages(
  trace: Trace,
  names: readonly (string | number)[] | undefined,
  usual: readonly StorageDef[],
  isOfCore: boolean,
  isFit: (def: StorageDef) => boolean,
  whyUnfit: string,
): readonly StorageDef[] {
  if (!names) return usual;
  const defs = names.map((name) => {
    const own = isOfCore && typeof name === 'string' ? usual.find((def) => def.name === name) : undefined;
    const def = own ?? trace.names.storage(name);
    if (isFit(def)) return def;
    throw new UscopeError('READER_NAME', `"${trace.names.storageNames[def.storageId]}" ${whyUnfit}`);
  });
  return [...new Set(defs)];
}
