/** Texts of rows: the names of stages in their boxes, and the labels at the left. */
import { shownCore } from '../../data/shown-core.js';
import { NO_STAGE, RowFlag } from '../../model/blocks.js';
import { pcOf, stageSpans } from '../../model/row.js';
import { grouped } from '../../model/ticks.js';
import { BOX_FONT, clipTo, fitted, TEXT_FONT } from '../canvas.js';
import type { Frame } from '../frame.js';
import type { RowLayout } from './layout.js';

/** Narrower cycles have no room for a letter. */
const MIN_NAME_SCALE = 7;
/** Less room beside an instruction is left empty, pixels. */
const MIN_NOTE = 40;

export function paintStageNames(frame: Frame, layout: RowLayout): void {
  const { context, theme, info, view, left, top, plot, widths, store, settings } = frame;
  if (view.scale < MIN_NAME_SCALE) return;
  const stages = shownCore(info).stages;
  const short = shortNames(stages);
  const right = left + plot.width;
  context.save();
  clipTo(context, left, top, plot.width, plot.height);
  context.font = BOX_FONT;
  context.textBaseline = 'middle';
  for (let at = 0; at < layout.count; at++) {
    const block = layout.blocks[at]!;
    if (!block) continue;
    const index = layout.indices[at]!;
    const isSquashed = (block.flags[index]! & RowFlag.SQUASHED) !== 0;
    if (isSquashed && settings.squashed === 'blank') continue;
    context.fillStyle = isSquashed && settings.squashed === 'dim' ? theme.dim : theme.inBox;
    const y = top + layout.tops[at]! + layout.height * 0.46;
    const xOf = (cycle: number): number => left + (cycle - layout.origins[at]!) * view.scale;
    for (const span of stageSpans(block, index)) {
      const x0 = xOf(span.from);
      const x1 = xOf(span.to ?? store.extent.lastCycle);
      if (x0 >= right) break;
      if (x1 <= left || span.stage === NO_STAGE) continue;
      // Of a long box that begins outside the plot, the name stays in sight.
      const start = Math.max(x0, left);
      const room = Math.min(x1, right) - start - 6;
      const cycles = span.to === null ? 0 : span.to - span.from;
      const name = stages[span.stage]!;
      const candidates =
        cycles > 1 ? [`${name} ${cycles}`, name, short[span.stage]!] : [name, short[span.stage]!];
      const text = candidates.find((candidate) => widths.box.of(candidate) <= room);
      if (text === undefined) continue;
      const centred = cycles <= 1 ? (Math.min(x1, right) - start - 1 - widths.box.of(text)) / 2 : 4;
      context.fillText(text, start + centred, y);
    }
  }
  context.restore();
}

/** Where the columns of the labels begin, from the left edge. */
function labelColumns(frame: Frame): { number: number; pc: number; text: number; hasPc: boolean } {
  const { widths, store, left } = frame;
  const digit = widths.text.of('0');
  const number = 10 + digit * Math.max(4, grouped(Math.max(1, store.rows)).length);
  const hasPc = left >= 250;
  const pc = number + 12;
  return { number, pc, text: hasPc ? pc + digit * 8 + 12 : pc, hasPc };
}

export function paintLabels(frame: Frame, layout: RowLayout): void {
  const { context, theme, top, left, plot, disassembly, sources, widths, selected, hits } = frame;
  const { height } = layout;
  const columns = labelColumns(frame);
  const room = left - columns.text - 8;
  context.save();
  clipTo(context, 0, top, left, plot.height);
  context.font = TEXT_FONT;
  context.textBaseline = 'middle';
  for (let at = 0; at < layout.count; at++) {
    const row = layout.rows[at]!;
    const block = layout.blocks[at]!;
    const y = Math.round(top + layout.tops[at]! + height / 2);
    context.textAlign = 'right';
    context.fillStyle = theme.dim;
    context.fillText(grouped(row), columns.number, y);
    context.textAlign = 'left';
    if (!block) continue;
    const index = layout.indices[at]!;
    const isSquashed = (block.flags[index]! & RowFlag.SQUASHED) !== 0;
    if (columns.hasPc) {
      const pc = pcOf(block, index) ?? '';
      context.fillText(pc.length > 8 ? `…${pc.slice(-7)}` : pc, columns.pc, y);
    }
    context.fillStyle = row === selected ? theme.accent : isSquashed ? theme.dim : theme.text;
    const text = fitted(disassembly.of(block, index), room, widths.text);
    context.fillText(text, columns.text, y);
    const pc = pcOf(block, index);
    const noted = columns.text + widths.text.of(text) + 14;
    if (pc && left - noted > MIN_NOTE) {
      context.fillStyle = theme.dim;
      context.fillText(fitted(sources.of(pc), left - noted - 8, widths.text), noted, y);
    }
    if (hits?.has(row)) {
      context.fillStyle = theme.accent;
      context.fillRect(columns.pc - 6, Math.round(y - height / 2) + 2, 3, height - 4);
    }
    if (isSquashed) {
      // Squashed instructions differ by more than their colour.
      context.fillStyle = theme.dim;
      context.fillRect(columns.text, y, widths.text.of(text), 1);
    }
  }
  context.restore();
}

/** Rows too thin for labels: the number of every row at a round number. */
export function paintRowNumbers(frame: Frame, layout: RowLayout): void {
  const { context, theme, top, left, plot, hits } = frame;
  const { height } = layout;
  const step = [10, 20, 50, 100, 200, 500, 1000].find((count) => count * height >= 40) ?? 2000;
  context.save();
  clipTo(context, 0, top, left, plot.height);
  context.font = TEXT_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (let at = 0; at < layout.count; at++) {
    const row = layout.rows[at]!;
    const y = Math.round(top + layout.tops[at]! + height / 2);
    if (hits?.has(row)) {
      context.fillStyle = theme.accent;
      context.fillRect(left - 6, y - 1, 6, Math.max(2, height));
    }
    if (row % step !== 0) continue;
    context.fillStyle = theme.dim;
    context.fillText(grouped(row), left - 14, y);
    context.fillRect(left - 8, y, 6, 1);
  }
  context.restore();
}

/** The shortest beginnings that distinguish the names, at most three letters; the first letter is a capital. */
export function shortNames(names: readonly string[]): string[] {
  return names.map((name) => {
    for (let length = 1; length <= 3; length++) {
      const start = name.slice(0, length);
      const others = names.filter((other) => other !== name && other.slice(0, length) === start);
      if (others.length === 0 || length === 3) return start.charAt(0).toUpperCase() + start.slice(1);
    }
    return name;
  });
}
