/** The address bar follows what is on the screen. A jump in the trace is a step of the browser's history: Back returns to where one was. */
import { effect } from '@preact/signals';
import type { Command } from '../model/commands.js';
import { LINK_VERSION } from '../model/link.js';
import { applyLink, linkNow, opened } from './link-state.js';
import { state, tell } from './store.js';

/** Browsers refuse addresses that change all the time: Safari more than 100 in 30 s. A view that follows a simulation never stands still. */
const DELAY_MS = 350;
const JUMPS: ReadonlySet<Command['do']> = new Set([
  'goRow',
  'goCycle',
  'view',
  'fit',
  'first',
  'last',
  'return',
  'producer',
  'consumer',
  'reveal',
]);

/** 0: the address says what is shown. */
let timer = 0;
let isJumping = false;
let isReturning = false;

function cancelWrite(): void {
  clearTimeout(timer);
  timer = 0;
}

function write(): void {
  timer = 0;
  if (!state.value) return;
  const address = `#${linkNow()}`;
  try {
    // Steps made here are marked: others were typed into the address bar.
    if (isJumping && address !== location.hash) history.pushState({ isStep: true }, '', address);
    else history.replaceState({ isStep: true }, '', address);
  } catch {
    // The next change tries again.
  }
  isJumping = false;
}

/** To be called before a command is carried out. */
export function beforeCommand(command: Command): void {
  if (isReturning || isJumping || !JUMPS.has(command.do) || !state.value) return;
  cancelWrite();
  write();
  isJumping = true;
}

function go(only: 'all' | 'where'): void {
  isReturning = true;
  isJumping = false;
  cancelWrite();
  complain(applyLink(location.hash, only));
  isReturning = false;
}

function complain({ version, problem }: typeof opened): void {
  if (problem !== null) tell(`the link is not used: ${problem}`);
  else if (version > LINK_VERSION) tell('the link is of a newer version: parts of it may be missing');
}

export function followAddress(): void {
  complain(opened);
  effect(() => {
    linkNow();
    if (timer === 0) timer = setTimeout(write, DELAY_MS) as unknown as number;
  });
  addEventListener('popstate', ({ state: step }: PopStateEvent) =>
    go((step as { isStep?: boolean } | null)?.isStep ? 'where' : 'all'),
  );
}
