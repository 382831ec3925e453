/** Apart from the source itself, which is only loaded for those that are. */

/** Whether a name given by a user is an address for `httpSource` and not a path. */
export function isHttpUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}
