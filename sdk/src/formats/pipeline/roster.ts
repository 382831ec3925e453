/** Which instructions of a log are in flight. */

/** What a command is about. */
export type Standing = 'live' | 'new' | 'ended';

/**
 * Logs number their instructions upwards, and some say something of one before they introduce it: a number above all so far is one that
 * begins there, another one that is not in flight has ended.
 */
export class Roster<T> {
  readonly live = new Map<number, T>();
  private highest = -1;

  standing(id: number): Standing {
    if (this.live.has(id)) return 'live';
    return id > this.highest ? 'new' : 'ended';
  }

  add(id: number, value: T): void {
    this.live.set(id, value);
    if (id > this.highest) this.highest = id;
  }

  remove(id: number): void {
    this.live.delete(id);
  }
}
