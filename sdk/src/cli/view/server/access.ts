/**
 * Who is let in: a browser that opens an address with a code. A code is good once, for a cookie that the browser then sends by itself.
 * Everything is served below a path that nobody can guess, and the cookie is for that path: browsers send the cookies of a host to all its
 * ports, and other users may listen on one of them.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from './replies.js';

export const READS: readonly string[] = ['GET', 'HEAD'];

const COOKIE = 'uscope';
const PATH_BYTES = 9;
const SECRET_BYTES = 24;
const WAY_IN = `403: this page belongs to the user who started it.

Open the address that the command printed. Its code lets one browser in, once.
If it was opened already, end the command, start it again, and open the new address.
In a browser that was let in, press Enter in the address bar: a link on another page is not enough.`;

interface Invitation {
  /** Follows the path of the page. */
  readonly place: string;
  isUsed: boolean;
}

export class Access {
  /** Path of the page. */
  readonly root = `/${secret(PATH_BYTES)}/`;
  private readonly session = secret(SECRET_BYTES);
  /** By what is stored of their codes: a search takes a time that says nothing of a code. */
  private readonly invitations = new Map<string, Invitation>();

  /** @param place where it leads: what follows the path of the page. @returns path and code */
  invite(place: string): string {
    const code = secret(SECRET_BYTES);
    this.invitations.set(digest(code).toString('hex'), { place, isUsed: false });
    return `${this.root}?code=${code}`;
  }

  /** Takes the path of the page from the request's. @returns false: the request has been answered */
  admits(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '/' } = request;
    const invitation = this.invitationOf(request);
    if (invitation) welcome(response, invitation, this.root, this.session);
    else if (!url.startsWith(this.root) || !this.hasCookie(request)) refuse(response, 403, WAY_IN);
    else if (!isOfOwnPage(request)) refuse(response, 403, 'only the own pages of this server may command');
    else {
      request.url = url.slice(this.root.length - 1);
      return true;
    }
    return false;
  }

  private invitationOf({ method, url = '' }: IncomingMessage): Invitation | undefined {
    if (method !== 'GET' || !url.startsWith(this.root)) return undefined;
    const code = /^\?code=([\w-]{1,64})$/.exec(url.slice(this.root.length))?.[1];
    return code === undefined ? undefined : this.invitations.get(digest(code).toString('hex'));
  }

  private hasCookie({ headers }: IncomingMessage): boolean {
    const expected = digest(this.session);
    return (headers.cookie ?? '').split('; ').some((pair) => {
      const [name, value = ''] = pair.split('=', 2);
      return name === COOKIE && timingSafeEqual(digest(value), expected);
    });
  }
}

/**
 * Browsers send a strict cookie only where one of our own pages leads to. So this is a page which leads on at once, in the place of its address; a
 * redirect would count for the page that led here. A code that was used before leads on, too, and brings nothing.
 */
function welcome(response: ServerResponse, invitation: Invitation, root: string, session: string): void {
  if (!invitation.isUsed)
    response.setHeader('set-cookie', `${COOKIE}=${session}; Path=${root}; HttpOnly; SameSite=Strict`);
  invitation.isUsed = true;
  const body = `<!doctype html><title>µScope</title><a href="${root}">the viewer</a>\n`;
  response.writeHead(200, {
    refresh: `0; url=${root}${invitation.place}`,
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Pages of other ports are of the same site: their requests have the cookie where they know the path. */
const isOfOwnPage = ({ method = '', headers: { origin, host } }: IncomingMessage): boolean =>
  READS.includes(method) || origin === undefined || origin === `http://${host}`;

function secret(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
