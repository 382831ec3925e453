/** What ends a pass by compiled code over a log that it has no room for: the plain path makes that pass anew. */
export class NotCompiled extends Error {}
