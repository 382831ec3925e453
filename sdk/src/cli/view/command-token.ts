/** The token that a page needs to command, and to ask in SQL: only the printed address has it. */
import { randomBytes } from 'node:crypto';

const TOKEN_BYTES = 24;

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** @param hash of the page's address, empty or with `#` @param token null: there is none */
export function withToken(hash: string, token: string | null): string {
  if (token === null) return hash;
  return `${hash === '' ? '#' : `${hash}&`}token=${token}`;
}
