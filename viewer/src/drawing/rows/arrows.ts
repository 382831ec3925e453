/** From the producer's row to the instruction that waited for it, in the cycle in which it had to. */
import { dependenciesOf } from '../../model/row.js';
import { clipTo } from '../canvas.js';
import type { Frame } from '../frame.js';
import { MIN_BOX_HEIGHT } from '../settings.js';
import type { RowLayout, RowPlace } from './layout.js';

/** @param place where a row lies, on the screen or beside it; null: nowhere */
export function paintArrows(frame: Frame, layout: RowLayout, place: (row: number) => RowPlace | null): void {
  const { settings, selected, context, left, top, plot } = frame;
  if (settings.arrows === 'off' || layout.height < MIN_BOX_HEIGHT) return;
  const all = settings.arrows === 'all';
  context.save();
  clipTo(context, left, top, plot.width, plot.height);
  for (let at = 0; at < layout.count; at++) {
    const block = layout.blocks[at]!;
    if (!block) continue;
    const row = layout.rows[at]!;
    for (const { producer, cycle } of dependenciesOf(block, layout.indices[at]!)) {
      if (producer === null) continue;
      const isChosen = row === selected || producer === selected;
      if (!all && !isChosen) continue;
      const from = place(producer);
      if (from) paintArrow(frame, layout, at, from, cycle, isChosen);
    }
  }
  context.restore();
}

function paintArrow(
  frame: Frame,
  { height, tops, origins }: RowLayout,
  at: number,
  producer: RowPlace,
  cycle: number,
  isChosen: boolean,
): void {
  const { context, view, left, top, theme } = frame;
  const inset = Math.min(view.scale * 0.2, 8);
  const bow = Math.min(16, view.scale * 0.6);
  const x0 = left + (cycle - producer.origin) * view.scale + inset - bow;
  const x = left + (cycle - origins[at]!) * view.scale + inset;
  const y0 = top + producer.top + height / 2;
  const y1 = top + tops[at]! + height / 2 - Math.min(4, height / 4);
  const line = (): void => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bow, y0, x, y0, x, y1 - 5);
    context.stroke();
  };
  const ends = (): void => {
    context.beginPath();
    context.arc(x0, y0, 2.5, 0, Math.PI * 2);
    context.moveTo(x, y1);
    context.lineTo(x - 4, y1 - 7);
    context.lineTo(x + 4, y1 - 7);
    context.closePath();
  };
  const width = isChosen ? 2 : 1.25;
  // A border in the colour of the background sets it apart from the boxes below.
  context.strokeStyle = theme.background;
  context.lineWidth = width + 2;
  line();
  ends();
  context.stroke();
  context.strokeStyle = isChosen ? theme.accent : theme.arrow;
  context.fillStyle = context.strokeStyle;
  context.lineWidth = width;
  line();
  ends();
  context.fill();
}
