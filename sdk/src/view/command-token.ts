/** Who may command: requests that bring the token of the printed address, from no page but ours. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * The header makes browsers ask first before a page of another site may send it, which is never allowed.
 * @param token null: nobody may
 */
export function hasToken({ headers }: IncomingMessage, token: string | null): boolean {
  const given = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  if (token === null || Buffer.byteLength(given) !== Buffer.byteLength(token)) return false;
  const isOwnOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`;
  return isOwnOrigin && timingSafeEqual(Buffer.from(given), Buffer.from(token));
}

/** The text of a request; null: it is longer than it may be. */
export async function bodyOf(request: IncomingMessage, mostBytes: number): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > mostBytes) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}
