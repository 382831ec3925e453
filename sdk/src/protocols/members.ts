/** Which definitions belong to a scope. */
import { NO_ID, type Schema } from '../format/types.js';

/** The scope and those below it that belong to no other protocol. */
export function membersOf(schema: Schema, scopeId: number): ReadonlySet<number> {
  const inside = new Set([scopeId]);
  // Parents may follow their children.
  for (let grown = true; grown; ) {
    grown = false;
    for (const scope of schema.scopes) {
      if (inside.has(scope.scopeId) || scope.protocol !== null) continue;
      if (scope.parentId === NO_ID || !inside.has(scope.parentId)) continue;
      inside.add(scope.scopeId);
      grown = true;
    }
  }
  return inside;
}

/** Definitions of the scopes given; what is in `scopeId` itself comes before what is below. */
export function ownFirst<T extends { readonly scopeId: number }>(
  defs: readonly T[],
  inside: ReadonlySet<number>,
  scopeId: number,
): T[] {
  return defs
    .filter((def) => inside.has(def.scopeId))
    .sort((a, b) => Number(b.scopeId === scopeId) - Number(a.scopeId === scopeId));
}
