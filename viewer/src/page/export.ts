/** Exports what the page shows: rows as text, the picture as PNG or SVG. */
import { AskError } from '../data/asker.js';
import type { ExportAction } from '../input/actions.js';
import { takePicture } from './picture.js';
import { places } from './places/places.js';
import { origin, pictureSize, settings, state, tell } from './store.js';
import { currentEngine } from './threads/current-engine.js';

/** Characters of a line of text, as in a pipe. */
const TEXT_WIDTH = 120;

export async function exportView(what: ExportAction): Promise<void> {
  try {
    if (what === 'copyText') await copyText();
    else if (what === 'copyPng') await copyPicture();
    else await savePicture(what === 'savePng' ? 'png' : 'svg');
  } catch (error) {
    tell(error instanceof AskError ? error.message : `that did not work: ${(error as Error).message}`);
  }
}

/** Of the range, else of what is on the screen. */
function cyclesToCopy(): { readonly from: number; readonly to: number } | null {
  const { range } = places.value;
  if (range) return range;
  const view = state.value?.view;
  if (!view) return null;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  const from = Math.max(0, Math.floor(view.x));
  return { from, to: Math.max(from + 1, Math.ceil(view.x + cycles)) };
}

async function copyText(): Promise<void> {
  const cycles = cyclesToCopy();
  const engine = currentEngine();
  if (!cycles || !engine) return;
  const printed = await engine.questionThread('text').ask('timelineText', { ...cycles, width: TEXT_WIDTH });
  if (!printed || printed.rows === 0) {
    tell(`no instruction is in flight in cycles ${cycles.from} to ${cycles.to - 1}`);
    return;
  }
  await navigator.clipboard.writeText(printed.text);
  tell(`${printed.rows} rows copied as text`);
}

async function copyPicture(): Promise<void> {
  if (typeof ClipboardItem === 'undefined') {
    await savePicture('png');
    return;
  }
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': await takePicture('png') })]);
  tell('picture copied');
}

async function savePicture(kind: 'png' | 'svg'): Promise<void> {
  const picture = await takePicture(kind);
  save(picture, `${(origin.value?.name ?? 'trace').replace(/\.uscope$/, '')}.${kind}`);
}

/** Gives the browser a file to save. */
export function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
