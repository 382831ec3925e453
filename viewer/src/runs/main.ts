/** The traces of a directory, as they appear; each is a link to its picture. Where the server takes commands, what `uscope ctl` does. */
import { bytesText, element, grouped } from './elements.js';
import { type ListedRing, ringFigure } from './ring.js';

/** Of `uscope view DIR`, sdk/src/cli/view/view-directory.ts. */
interface Listing {
  readonly directory: string;
  readonly runs: readonly {
    readonly id: string | null;
    readonly startTimeMs: number | null;
    readonly traces: readonly ListedTrace[];
  }[];
  /** What daemons have to say that cannot be asked. */
  readonly trouble: string | null;
  /** Of flight recorders, whose files are made at their end. */
  readonly rings: readonly ListedRing[];
}

type Recording = NonNullable<ListedTrace['recording']>;

interface ListedTrace {
  readonly name: string;
  readonly state: 'complete' | 'live' | 'unfinished' | 'damaged';
  readonly reason: string | null;
  readonly lastCycle: number | null;
  readonly bytes: number;
  /** As its daemon reports it; null: no daemon writes it now. */
  readonly recording: {
    readonly name: string;
    readonly state: string;
    readonly itemsPerSecond: number;
    readonly unacknowledgedBytes: number;
    readonly warnings: readonly string[];
  } | null;
}

const POLL_MS = 1000;
/** Traces on one page: each has a frame with several threads. */
const MAX_TOGETHER = 32;
/** How long what became of a command is shown. */
const OUTCOME_MS = 10_000;
/** null: the page may only look. */
const control = document.querySelector<HTMLMetaElement>('meta[name="uscope-control"]')?.content ?? null;
const place = document.getElementById('runs')!;
const state = document.getElementById('state')!;

function say(text: string, isBad = false): void {
  state.textContent = text;
  state.className = isBad ? 'bad' : '';
}

let shown = '';
/** performance.now() until which the outcome of a command is shown. */
let outcomeUntil = 0;
/** A button that is replaced while it is pressed gets no click. */
let isPressed = false;
addEventListener('pointerdown', () => {
  isPressed = true;
});
for (const name of ['pointerup', 'pointercancel'])
  addEventListener(name, () => {
    isPressed = false;
  });

function show(text: string): void {
  if (outcomeUntil > 0 && performance.now() >= outcomeUntil) {
    outcomeUntil = 0;
    shown = '';
  }
  // What a pointer is over must stay what it is.
  if (text === shown || isPressed) return;
  shown = text;
  const { directory, runs, rings, trouble } = JSON.parse(text) as Listing;
  document.getElementById('directory')!.textContent = directory;
  const count = runs.reduce((sum, { traces }) => sum + traces.length, 0) + rings.length;
  if (trouble !== null || outcomeUntil === 0)
    say(trouble ?? (count === 1 ? '1 trace' : `${grouped(count)} traces`), trouble !== null);
  const focused = document.activeElement?.id;
  place.replaceChildren(...rings.map(ringSection), ...[...runs].reverse().map(sectionOf));
  if (count === 0)
    place.append(element('p', 'There are no traces here yet. They appear as simulators open them.'));
  if (focused) document.getElementById(focused)?.focus();
}

function ringSection({ recording, segments }: ListedRing): HTMLElement {
  const section = document.createElement('section');
  const head = element('h2', `Flight recorder ${recording.name}`);
  head.append(element('small', `${recording.state}, ${grouped(recording.itemsPerSecond)} items/s`));
  section.append(head, ringFigure(segments));
  for (const warning of recording.warnings) section.append(element('p', warning, 'bad'));
  if (control !== null) section.append(...buttonsOf(recording));
  return section;
}

function sectionOf({ id, startTimeMs, traces }: Listing['runs'][number]): HTMLElement {
  const section = document.createElement('section');
  const head = element('h2', id === null ? 'Traces of no run' : 'Run');
  const start = startTimeMs === null ? '' : new Date(startTimeMs).toLocaleString();
  head.append(element('small', [start, id ?? ''].filter((part) => part !== '').join('  ')));
  head.append(...pagesOfAll(traces));
  const table = document.createElement('table');
  const titles = document.createElement('tr');
  for (const title of ['trace', 'state', 'last cycle', 'size', 'items/s', ''])
    titles.append(element('th', title));
  table.append(titles, ...traces.map(rowOf));
  section.append(head, table);
  return section;
}

/** Of several traces: one page with all of them, and of two one that compares them. */
function pagesOfAll(traces: readonly ListedTrace[]): HTMLElement[] {
  const addresses = traces.map(({ name }) => `traces/${encodeURIComponent(name)}/trace.uscope`);
  const link = (text: string, page: string, query: readonly (readonly [string, string])[]): HTMLElement => {
    const made = element('a', text, 'together') as HTMLAnchorElement;
    made.href = `${page}?${query.map(([key, address]) => `${key}=${encodeURIComponent(address)}`).join('&')}`;
    return made;
  };
  const [a, b, ...more] = addresses;
  if (a === undefined || b === undefined || addresses.length > MAX_TOGETHER) return [];
  const all = link(
    'on one time axis',
    'together.html',
    addresses.map((address) => ['trace', address]),
  );
  const both = [
    ['a', a],
    ['b', b],
  ] as const;
  return more.length > 0 ? [all] : [all, link('compared', 'compare.html', both)];
}

function rowOf(trace: ListedTrace): HTMLElement {
  const { name, lastCycle, bytes, recording, reason } = trace;
  const row = document.createElement('tr');
  const cell = document.createElement('td');
  const link = element('a', name) as HTMLAnchorElement;
  link.href = `traces/${encodeURIComponent(name)}/`;
  link.id = `link-${name}`;
  cell.append(link);
  const what = element(
    'td',
    recording && recording.state !== 'open' ? recording.state : trace.state,
    trace.state,
  );
  if (trace.state === 'unfinished' || trace.state === 'damaged') what.classList.add('bad');
  const more = element('td', [reason, ...(recording?.warnings ?? [])].filter(Boolean).join('; '), 'wide');
  if (recording && control !== null) more.prepend(...buttonsOf(recording));
  row.append(
    cell,
    what,
    element('td', lastCycle === null ? '' : grouped(lastCycle), 'num'),
    element('td', bytesText(bytes), 'num'),
    element('td', recording ? grouped(recording.itemsPerSecond) : '', 'num'),
    more,
  );
  return row;
}

function buttonsOf({ name }: Pick<Recording, 'name'>): HTMLElement[] {
  const button = (title: string, action: string, ask: string | null): HTMLElement => {
    const made = element('button', title);
    made.id = `${action}-${name}`;
    made.onclick = () => {
      const operand = ask === null ? null : prompt(ask);
      if (ask === null || operand) void command(action, name, operand);
    };
    return made;
  };
  return [
    button('pause', 'pause', null),
    button('resume', 'resume', null),
    button('mark', 'trigger', 'Label of the mark; a flight recorder also keeps a snapshot'),
    button('disable', 'disable', 'Scope that is not recorded from now on'),
    button('enable', 'enable', 'Scope that is recorded again'),
  ];
}

async function command(action: string, trace: string, operand: string | null): Promise<void> {
  say(`${action} ${trace}…`);
  outcomeUntil = Number.POSITIVE_INFINITY;
  try {
    const answer = await fetch(control!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action, trace, operand }),
    });
    const text = await answer.text();
    if (!answer.ok) return say(text.trim(), true);
    const outcomes = JSON.parse(text) as { name: string; outcome: string; message: string | null }[];
    const other = outcomes.find(({ outcome }) => outcome !== 'done');
    say(
      other ? `${other.name}: ${other.message ?? other.outcome}` : `${action} ${trace}: done`,
      other !== undefined && other.outcome !== 'pending',
    );
  } catch {
    say('VIEW_LOST: the server does not answer', true);
  } finally {
    outcomeUntil = performance.now() + OUTCOME_MS;
    shown = '';
  }
}

async function follow(): Promise<void> {
  try {
    const answer = await fetch('runs.json', { cache: 'no-store' });
    if (answer.ok) show(await answer.text());
    else say((await answer.text()).trim(), true);
  } catch {
    shown = '';
    say(
      'VIEW_LOST: the server does not answer; start uscope view again and open the address that it prints',
      true,
    );
  }
  setTimeout(() => void follow(), POLL_MS);
}

void follow();
