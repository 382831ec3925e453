/** The first line of a track: what it is, what of it is shown, and the button that hides it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { findSlotFields, namesOf, type TrackList, valuesOf } from '../../model/track-lists.js';
import { type PanelId, panelOf } from '../../model/panels.js';
import { toggle } from '../../page/layout.js';
import { choose, described, shown } from '../../page/questions/track-choices.js';
import { Chooser, MAX_LISTED } from './chooser.js';

interface TrackHeadProps {
  readonly id: PanelId;
  /** What can be chosen. */
  readonly list?: TrackList;
  readonly children?: ComponentChildren;
}

export function TrackHead({ id, list, children }: TrackHeadProps) {
  const [isOpen, setOpen] = useState(false);
  const { title } = panelOf(id);
  return (
    <header class="track-head">
      <strong>{title}</strong>
      {list && (
        <button
          type="button"
          class="track-tool"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          title={`choose which ${title.toLowerCase()} are shown`}
          onClick={() => setOpen(!isOpen)}
        >
          {`${shown[list].value.length} of ${countOf(list)} ▾`}
        </button>
      )}
      {children}
      <span class="fill" />
      <button type="button" class="close-panel" aria-label={`hide ${title.toLowerCase()}`} title="hide" onClick={() => toggle(id)}>
        ×
      </button>
      {list && isOpen && (
        <Chooser
          title={title}
          chosen={shown[list].value}
          find={(filter) => findNames(list, filter)}
          onChange={(names) => choose({ [list]: names })}
          onClose={() => setOpen(false)}
        />
      )}
    </header>
  );
}

function countOf(list: TrackList): string {
  const trace = described.value;
  if (!trace) return '0';
  if (list !== 'values') return String(namesOf(list, trace).length);
  const { storages } = trace.schema;
  return String(storages.reduce((sum, { numSlots, fields }) => sum + numSlots * valuesOf(fields).length, 0));
}

function findNames(list: TrackList, filter: string): readonly string[] {
  const trace = described.value;
  if (!trace) return [];
  if (list === 'values') {
    // What is shown already comes first, so that it can be taken away.
    const kept = filter === '' ? shown.values.value : [];
    return [...new Set([...kept, ...findSlotFields(filter, trace, MAX_LISTED)])];
  }
  const words = filter.toLowerCase().split(/\s+/);
  return namesOf(list, trace)
    .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, MAX_LISTED);
}
