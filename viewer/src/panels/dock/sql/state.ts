/** The question and its answer: they stay while another panel is shown. */
import { signal } from '@preact/signals';
import { range } from '../../../page/places/places.js';
import { info, pictureSize, settings, state } from '../../../page/store.js';
import { currentEngine } from '../../../page/threads/current-engine.js';
import { askNames, askSql, type SqlAnswer, SqlError, type SqlQuestion } from './ask.js';
import type { SqlNames } from './words.js';

export const question = signal('from hot_pcs(20)');
/** The tables have rows of the shown range only. */
export const isLimited = signal(true);
/** Longest time of a question, seconds. */
export const limit = signal(30);
export const names = signal<SqlNames | null>(null);
export const answer = signal<(SqlAnswer & { readonly of: string; readonly seconds: number }) | null>(null);
export const problem = signal<string | null>(null);
/** What ends the question that is being answered; null: none is. */
export const asking = signal<AbortController | null>(null);

/** What a question is about: the range, or what is on the screen. Whole cycles, `to` exclusive; null: there is no picture yet. */
export function shownTime(): SqlQuestion['shown'] {
  const trace = info.value;
  const view = state.value?.view;
  if (!trace || !view) return null;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  const { from, to } = range.value ?? { from: Math.floor(view.x), to: Math.ceil(view.x + cycles) };
  const start = Math.max(0, from);
  return { from: start, to: Math.max(start + 1, to), periodPs: Math.max(1, trace.clock?.periodPs ?? 1) };
}

export async function ask(): Promise<void> {
  asking.value?.abort();
  const controller = new AbortController();
  asking.value = controller;
  problem.value = null;
  const began = performance.now();
  try {
    const found = await askSql(
      { sql: question.value, timeoutMs: limit.value * 1000, shown: shownTime(), isLimited: isLimited.value },
      controller.signal,
    );
    answer.value = { ...found, of: question.value, seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    if (asking.value === controller)
      problem.value = controller.signal.aborted ? 'The question was cancelled.' : textOf(error);
  } finally {
    if (asking.value === controller) asking.value = null;
  }
}

/** Tables and ready-made questions, once. */
export async function loadNames(signal: AbortSignal): Promise<void> {
  if (names.value) return;
  try {
    names.value = await askNames(signal);
  } catch (error) {
    if (!signal.aborted) problem.value = textOf(error);
  }
}

export const goToCycle = (cycle: number): void => currentEngine()?.run({ do: 'goCycle', cycle });

const textOf = (error: unknown): string => (error instanceof SqlError ? error.message : String(error));
