/** Which parts of the page's state are in its URL. Each registers itself where it is made; the order in which they do is theirs in the link. */
import { computed, type ReadonlySignal } from '@preact/signals';
import { formatLink, type LinkContent, type LinkPart, parseLink, readPart } from '../model/link.js';

interface LinkedState<T> {
  /** null: the link need not say anything of it. */
  get(): T | null;
  /**
   * Takes what a link says.
   * @param value null: it says nothing of it
   * @param content all of the link
   */
  set(value: T | null, content: LinkContent): void;
  /** Where one is in the trace: Back and Forward return there. Everything else stays as it is when they do. */
  readonly isWhere?: boolean;
}

interface Entry {
  readonly isWhere: boolean;
  readonly text: ReadonlySignal<readonly [string, readonly string[]]>;
  take(content: LinkContent): void;
}

const entries: Entry[] = [];

/** The link that the page was opened with. */
export const opened: LinkContent = parseLink(location.hash);

/** A link that says everything: what it leaves out is as by default, not as this user had it. */
export const isComplete = ({ version }: LinkContent): boolean => version > 0;

/** @returns what the link that the page was opened with says of it; null: nothing */
export function registerLink<T>(part: LinkPart<T>, state: LinkedState<T>): T | null {
  entries.push({
    isWhere: state.isWhere ?? false,
    text: computed(() => {
      const value = state.get();
      return [part.key, value === null ? [] : part.format(value)] as const;
    }),
    take: (content) => state.set(readPart(content, part), content),
  });
  return readPart(opened, part);
}

/** The link to what the page shows. */
export const linkNow = (): string => formatLink(entries.map((entry) => entry.text.value));

/** Makes the page show what a link says. @param only `where`: the rest stays */
export function applyLink(hash: string, only: 'all' | 'where'): LinkContent {
  const content = parseLink(hash);
  for (const entry of entries) if (only === 'all' || entry.isWhere) entry.take(content);
  return content;
}
