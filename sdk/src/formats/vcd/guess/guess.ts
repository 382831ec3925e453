/** `--guess`: a map for a waveform, from names, widths, and what the beginning of it shows. A proposal, to be read before it is used. */
import { UscopeError } from '../../../base/errors.js';
import type { VcdHeader, VcdSignal } from '../read/header.js';
import { activityOf } from './activity.js';
import { candidates, guessClock, guessReset, isClockName, isSameRate } from './clocks.js';
import { type GuessedRvfi, guessRvfi, rvfiValids } from './rvfi.js';
import { type Scope, scopesOf } from './scopes.js';
import { clean, type Proposal, quoted, structuresOf } from './structures.js';

/** More scopes make a map that nobody reads. */
const MAX_SCOPES = 64;

interface GuessedScope {
  readonly path: string;
  readonly rvfi: GuessedRvfi | null;
  readonly proposals: readonly Proposal[];
  /** Where it is not that of most. */
  readonly clock: string | null;
}

/** @throws UscopeError CONVERT_SOURCE when nothing is called like a clock and rises */
export async function guessMap(header: VcdHeader, pieces: AsyncIterator<Uint8Array>): Promise<string> {
  const signals = [...header.signals, ...header.vectors];
  const scopes = scopesOf(signals);
  const interesting = [...candidates(signals), ...rvfiValids(scopes)];
  const byCode = new Map(interesting.map((signal) => [signal.code, signal]));
  const activity = await activityOf(header, [...byCode.values()], pieces);
  const clock = guessClock(signals, activity);
  if (!clock) {
    throw new UscopeError(
      'CONVERT_SOURCE',
      'no signal is called like a clock (clk, clock, clk_i) and rises twice in the beginning of the file; write a map by hand (docs/reference/formats/vcd.md)',
    );
  }
  const reset = guessReset(signals, activity);
  const rvfi = guessRvfi(scopes, activity);
  const rises = (signal: VcdSignal): number => activity.get(signal.code)?.rises ?? 0;
  const guessed = gather(scopes, rvfi, (other) => isSameRate(rises(other), rises(clock)));
  const head = [
    '# Proposed by `uscope convert --guess`: read it, delete what does not interest, complete what it does not know.',
    'waves: 1',
    `clock: ${quoted(clock.path)}`,
  ];
  if (reset) head.push(`reset: ${quoted(`${reset.isLow ? '!' : ''}${reset.signal.path}`)}`);
  return `${[...head, ...scopeLines(guessed)].join('\n')}\n`;
}

function gather(
  scopes: readonly Scope[],
  rvfi: readonly GuessedRvfi[],
  isClock: (signal: VcdSignal) => boolean,
): GuessedScope[] {
  const taken = new Set<string>();
  const found: GuessedScope[] = [];
  // Outer scopes first: a net that several have belongs to the outermost, but what a FIFO has inside to the FIFO.
  for (const scope of scopes) {
    const proposals = structuresOf(scope).filter(({ section, codes }) => {
      const key = `${section} ${codes.join(' ')}`;
      if (taken.has(key)) return false;
      taken.add(key);
      return true;
    });
    const own = rvfi.find((one) => one.scope === scope.path) ?? null;
    if (own || proposals.length > 0)
      found.push({ path: scope.path, rvfi: own, proposals, clock: otherClock(scope, isClock) });
  }
  return found.sort((a, b) => weight(b) - weight(a)).slice(0, MAX_SCOPES);
}

/** Cores first, then queues, then the rest. */
function weight({ rvfi, proposals }: GuessedScope): number {
  if (rvfi) return 2;
  return proposals.some(({ section }) => section === 'fifos') ? 1 : 0;
}

/** A scope with one clock that is another net has that one. */
function otherClock({ path, signals }: Scope, isClock: (signal: VcdSignal) => boolean): string | null {
  const clocks = [...signals].filter(
    ([name, { width }]) => width === 1 && isClockName(name) && !/en|gate|div/i.test(name),
  );
  if (clocks.length !== 1 || isClock(clocks[0][1])) return null;
  return path === '' ? clocks[0][0] : `${path}.${clocks[0][0]}`;
}

function scopeLines(scopes: readonly GuessedScope[]): string[] {
  if (scopes.length === 0) return ['# Nothing else was recognized.', 'scopes:', '  design: {}'];
  const names = new Set<string>();
  const cores = scopes.filter(({ rvfi }) => rvfi).length;
  let core = 0;
  const lines = ['scopes:'];
  for (const { path, rvfi, proposals, clock } of scopes) {
    const last = clean(path.split('.').at(-1) ?? 'top') || 'top';
    const name = unique(rvfi ? (cores === 1 ? 'core0' : `core${core++}`) : last, names);
    lines.push(`  ${name}:`, `    in: ${quoted(path)}`);
    if (clock !== null) lines.push(`    clock: ${quoted(clock)}`);
    if (rvfi)
      lines.push(
        `    rvfi: ${quoted(rvfi.prefix)}`,
        `    isa: RV${rvfi.xlen}I   # add the extensions that the core has`,
      );
    for (const section of ['fifos', 'words', 'fsms', 'channels'] as const)
      for (const line of sectionLines(section, proposals)) lines.push(line);
  }
  return lines;
}

function sectionLines(section: Proposal['section'], proposals: readonly Proposal[]): string[] {
  const own = proposals.filter((one) => one.section === section);
  if (own.length === 0) return [];
  const names = new Set<string>();
  return [`    ${section}:`, ...own.map(({ name, value }) => `      ${unique(`${name}`, names)}: ${value}`)];
}

function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  taken.add(free);
  return free;
}
