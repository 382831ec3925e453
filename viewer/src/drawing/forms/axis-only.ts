/** The form of a trace without cores: only the axis, which the tracks below share. There is only time to move in. */
import type { Frame } from '../frame.js';
import { type AxisSpec, type Form, type Hit, type Needs, NOTHING_ELSE, type Point } from './form.js';
import type { Ground } from './ground.js';
import { timeMoves } from './time-moves.js';

export class AxisOnly implements Form {
  readonly name = 'strip';
  readonly hasRows = false;
  readonly moves = timeMoves;

  axis({ view }: Ground): AxisSpec {
    return { from: view.x, origin: 'trace' };
  }

  needs(): Needs {
    return { missing: [], soon: [], ...NOTHING_ELSE };
  }

  raster(): void {
    // Nothing but the background, which is there.
  }

  paint(): void {
    // As above.
  }

  hit({ view }: Frame, at: Point): Hit {
    return { row: null, cycle: Math.floor(view.x + at.x / view.scale) };
  }
}
