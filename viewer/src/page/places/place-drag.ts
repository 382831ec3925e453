/** What the pointer takes on the axis: a cursor by its flag, or with Shift a range. */
import { AXIS_HEIGHT } from '../../drawing/settings.js';
import { rangeBetween } from '../../model/places.js';
import { cycleAt, settings, state } from '../store.js';
import { chooseCursor, chosenCursor, cursors, moveCursor, setRange } from './places.js';

interface Drag {
  move(x: number): void;
  /** @param isClick it did not move */
  end(isClick: boolean): void;
}

/** Pixels left and right of a cursor's flag from which it is taken. */
const SLACK = 4;
const FLAG_WIDTH = 18;

/** @returns null: nothing of the user's is there */
export function takeAt({ x, y }: { x: number; y: number }, isShifted: boolean): Drag | null {
  const shown = state.value;
  const { gutter } = settings.value;
  if (!shown || shown.form === ('straight' as string) || y >= AXIS_HEIGHT || x < gutter) return null;
  if (isShifted) return dragRange(cycleAt(x));
  const xOf = (cycle: number): number => gutter + (cycle - shown.view.x) * shown.view.scale;
  const isAt = ({ cycle }: { cycle: number }): boolean =>
    x >= xOf(cycle) - SLACK && x < xOf(cycle) + FLAG_WIDTH + SLACK;
  // That in front: the chosen one, else the last drawn.
  const found = cursors.value.find((one) => one.id === chosenCursor.value && isAt(one));
  const taken = found ?? cursors.value.findLast(isAt);
  return taken ? dragCursor(taken.id, x - xOf(taken.cycle)) : null;
}

function dragRange(start: number): Drag {
  let joins = false;
  return {
    move(x) {
      setRange(rangeBetween(start, cycleAt(x)), joins);
      joins = true;
    },
    end(isClick) {
      if (isClick) setRange(null);
    },
  };
}

/** @param offset of the pointer from the cursor when it was taken */
function dragCursor(id: number, offset: number): Drag {
  let joins = false;
  return {
    move(x) {
      moveCursor(id, cycleAt(x - offset + 0.5), joins);
      joins = true;
    },
    end: () => chooseCursor(id),
  };
}
