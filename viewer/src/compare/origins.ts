/** Which two traces the page compares, and how the viewer opens each in a frame. */
import type { TraceOrigin } from '../data/protocol.js';
import type { Side } from './costs.js';

interface ComparedTrace {
  readonly name: string;
  readonly url: string;
  /** Of the viewer's page on this trace. */
  readonly page: string;
}

const named = (key: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="uscope-${key}"]`)?.content;
const asked = new URLSearchParams(location.search);

/** `?a=URL&b=URL`, else what the server that made this page wrote into it. null: neither. */
export function comparedTrace(side: Side): ComparedTrace | null {
  const address = asked.get(side) ?? named(side);
  if (!address) return null;
  const url = new URL(address, document.baseURI).href;
  const last = decodeURIComponent(new URL(url).pathname.split('/').at(-1) || url);
  const name = (asked.has(side) ? undefined : named(`${side}-name`)) ?? last;
  return { name, url, page: `index.html?trace=${encodeURIComponent(url)}` };
}

/** `?elf=URL`, or the file that the server was given. */
export function elfAddress(): string | null {
  const address = asked.get('elf') ?? named('elf');
  return address ? new URL(address, document.baseURI).href : null;
}

export const originOf = ({ name, url }: ComparedTrace): TraceOrigin => ({ name, url });
