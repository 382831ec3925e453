/** All state of the page, in one place. */
import { computed, signal } from '@preact/signals';
import type { TraceInfo, TraceOrigin } from '../data/protocol.js';
import type { CanvasSize, SceneState } from '../drawing/protocol.js';
import { ARROWS, DEFAULT_SETTINGS, FORMS, type Settings, SORTS, SQUASHED } from '../drawing/settings.js';
import { type Bindings, parseBindings } from '../input/keys.js';
import type { LinkPart } from '../model/link.js';
import { choicePart, numberPart } from '../model/link-parts.js';
import { COLOUR_MODES, PALETTES } from '../model/palette.js';
import { adviceFor } from './advice.js';
import { isComplete, opened, registerLink } from './link-state.js';
import { addProblem } from './problems.js';

const SETTINGS_KEY = 'uscope.view.settings';
const BINDINGS_KEY = 'uscope.view.keys';

/** Storage may be forbidden: then nothing is remembered. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    const what = 'The browser does not let this page remember settings, keys and layout.';
    addProblem({ code: 'VIEW_STORAGE', what, advice: adviceFor('VIEW_STORAGE'), isFatal: false });
  }
}

/** Of the labels, CSS pixels. */
export const MIN_GUTTER = 60;
export const MAX_GUTTER = 900;

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  theme: ['dark', 'light'],
  colour: COLOUR_MODES,
  palette: PALETTES,
  form: FORMS,
  squashed: SQUASHED,
  sort: SORTS,
  arrows: ARROWS,
};

const preferredTheme = (): Settings['theme'] =>
  matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';

/** What the user chose before, as far as it is still a choice. */
function rememberedSettings(): Partial<Settings> {
  let stored: Record<string, unknown> = {};
  try {
    stored = (JSON.parse(remembered(SETTINGS_KEY) ?? '{}') ?? {}) as Record<string, unknown>;
  } catch {
    // As if nothing had been stored.
  }
  const valid = Object.entries(stored).filter(([name, value]) => CHOICES[name]?.includes(String(value)));
  const gutter = Number(stored.gutter);
  return {
    ...(Object.fromEntries(valid) as Partial<Settings>),
    ...(gutter >= MIN_GUTTER && gutter <= MAX_GUTTER ? { gutter } : {}),
  };
}

export const settings = signal<Settings>({
  ...DEFAULT_SETTINGS,
  theme: preferredTheme(),
  ...(isComplete(opened) ? {} : rememberedSettings()),
});

/** A link names what is not as by default, and the theme, which the browser chooses otherwise. */
function linkSetting<K extends keyof Settings>(name: K, part: LinkPart<Settings[K]>): void {
  const use = (value: Settings[K]): void => {
    settings.value = { ...settings.value, [name]: value };
  };
  const linked = registerLink(part, {
    get: () =>
      name === 'theme' || settings.value[name] !== DEFAULT_SETTINGS[name] ? settings.value[name] : null,
    set: (value, content) => {
      if (value !== null) use(value);
      else if (isComplete(content) && name !== 'theme') use(DEFAULT_SETTINGS[name]);
    },
    // A view means something in its form only.
    isWhere: name === 'form',
  });
  if (linked !== null) use(linked);
}

for (const [name, choices] of Object.entries(CHOICES))
  linkSetting(name as keyof Settings, choicePart(name, choices) as LinkPart<never>);
linkSetting('gutter', numberPart('gutter', MIN_GUTTER, MAX_GUTTER));

export const origin = signal<TraceOrigin | null>(null);
export const info = signal<TraceInfo | null>(null);
export const state = signal<SceneState | null>(null);
/** Why a trace that is not finalized will not grow; null: it may. */
export const writerGone = signal<string | null>(null);
/** Addresses that the picture shows and nothing is written beside yet, hexadecimal. */
export const wantedSources = signal<readonly string[]>([]);
export { problems } from './problems.js';
export const panel = signal<'none' | 'palette' | 'help' | 'search'>('none');
/** Of the canvas of pipeline and axis, which the tracks are as wide as. */
export const pictureSize = signal<CanvasSize>({ width: 0, height: 0, ratio: 1 });
/** Over the canvas. */
export const pointer = signal<{ x: number; y: number } | null>(null);
export const bindings = signal<Bindings>(parseBindings(remembered(BINDINGS_KEY)));
/** A short message that goes away. */
export const notice = signal<string | null>(null);

export const core = computed(() => {
  const shown = info.value;
  return shown ? (shown.cores[shown.core] ?? null) : null;
});

export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, ...part };
  remember(SETTINGS_KEY, settings.value);
}

export function changeBindings(next: Bindings): void {
  bindings.value = next;
  remember(BINDINGS_KEY, next);
}

/** The next of the values there are. */
export function cycle<K extends 'theme' | 'colour' | 'palette' | 'form' | 'squashed' | 'sort' | 'arrows'>(
  name: K,
): string {
  const choices = CHOICES[name]!;
  const next = choices[(choices.indexOf(settings.value[name]) + 1) % choices.length]!;
  change({ [name]: next } as Partial<Settings>);
  return next;
}

let noticeTimer = 0;
export function tell(text: string): void {
  notice.value = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.value = null;
  }, 2500) as unknown as number;
}

/** Cycle at a pixel of the picture, in forms whose x is time. */
export function cycleAt(x: number): number {
  const view = state.value?.view;
  return view ? Math.floor(view.x + (x - settings.value.gutter) / view.scale) : 0;
}
