/** How commands change the view and the selection. Where rows lie is known only once their segments are here: then a move is made again. */
import type { Command } from '../model/commands.js';
import { dependenciesOf } from '../model/row.js';
import {
  cycleAtX,
  DEFAULT_ASPECT,
  DEFAULT_SCALE,
  fit,
  moveCycles,
  rowHeight,
  type View,
  zoomAbout,
} from '../model/view.js';
import type { Form, Moved, Point } from './forms/form.js';
import type { Ground } from './forms/ground.js';
import type { RowStore } from './row-store.js';

/** What the navigator works on: the scene. */
export interface Navigated {
  view: View;
  selected: number | null;
  readonly ground: Ground;
  readonly form: Form;
  /** Point of the plot; null: that of the pointer if it is there, else the middle. */
  plotPoint(at: Point | null): Point;
  /** The instruction at a point of the plot. */
  rowAt(at: Point): number | null;
  clamp(yielding: Moved[1]): void;
}

/** A move to a place that was estimated. */
interface Retry {
  /** Those without which it is an estimate. */
  readonly segments: ReadonlySet<number>;
  again(): void;
}

/** Commands that go on from where the view is: what they moved over is not moved over again. */
const STEPS: ReadonlySet<Command['do']> = new Set([
  ...(['rows', 'cycles', 'widths', 'drag', 'zoom', 'zoomDefault', 'follow', 'select'] as const),
]);
const NONE: ReadonlySet<number> = new Set();

export class Navigator {
  private retry: Retry | null = null;
  /** Where a zoom left the rows: zooming back to the same cycle finds the same row. */
  private left: { readonly cycle: number; readonly row: number } | null = null;

  constructor(private readonly scene: Navigated) {}

  run(command: Command): void {
    const { scene } = this;
    // Nothing changes: a place that was gone to is still wanted.
    if (command.do === 'select' && command.row === scene.selected) return;
    const before = scene.form;
    const at = command.do === 'zoom' ? scene.plotPoint(command.at) : null;
    const under = at && { cycle: cycleAtX(scene.view, at.x), row: scene.rowAt(at) };
    const exact = at && before.hasRows ? this.rowUnder(at) : null;
    this.retry = null;
    this.go(() => this.moved(command) ?? this.selectedBy(command), !STEPS.has(command.do));
    if (!at || !under || scene.form === before) return;
    if (before.name === 'classic') this.left = { cycle: under.cycle, row: exact ?? 0 };
    if (scene.form.name === 'classic') this.enterRows(at, under);
  }

  /** Segments without which the place gone to is an estimate. */
  get awaited(): ReadonlySet<number> {
    return this.retry?.segments ?? NONE;
  }

  /** More is known of where rows lie. @param segment whose block has come; null: of all */
  resume(segment: number | null): void {
    const { retry } = this;
    if (!retry || (segment !== null && !retry.segments.has(segment))) return;
    this.retry = null;
    retry.again();
  }

  /** @param isToPlace made again, from where it began, as long as estimates are part of it */
  private go(move: () => Moved | null, isToPlace: boolean): void {
    const { scene } = this;
    const { view, selected } = scene;
    const segments = scene.ground.store.guessedIn(() => {
      const moved = move();
      if (moved) this.show(...moved);
    });
    if (!isToPlace || segments.size === 0 || !scene.form.hasRows) return;
    const again = (): void => {
      scene.view = view;
      scene.selected = selected;
      this.go(move, true);
    };
    this.retry = { segments, again };
  }

  private show(view: View, yielding: Moved[1]): void {
    this.scene.view = view;
    this.scene.clamp(yielding);
  }

  private rowUnder(at: Point): number {
    const { view, lines } = this.scene.ground;
    return lines.below(view.y, at.y / rowHeight(view));
  }

  /** Rows come into sight: those at a point of the plot come to that point. */
  private enterRows(at: Point, under: { cycle: number; row: number | null }): void {
    const { scene, left } = this;
    const { store } = scene.ground;
    const { cycle } = under;
    const isBack = left !== null && Math.abs(left.cycle - cycle) * scene.view.scale < 0.5;
    const go = (): Moved => {
      const { lines } = scene.ground;
      const row = isBack ? left.row : (under.row ?? store.rowAt(cycle));
      const half = isBack || under.row === null ? 0 : 0.5;
      return [{ ...scene.view, y: lines.below(row + half, -at.y / rowHeight(scene.view)) }, 'y'];
    };
    this.go(go, !isBack && under.row === null);
  }

  /** The view after a command that moves it; null: it is none. */
  private moved(command: Command): Moved | null {
    const { scene } = this;
    const { ground, form } = scene;
    const { view, plot, store } = ground;
    switch (command.do) {
      case 'rows':
        return form.moves.rows(ground, command.count, command.follow);
      case 'cycles':
        return [moveCycles(view, command.count), 'y'];
      case 'widths':
        return [moveCycles(view, (command.count * plot.width) / view.scale), 'y'];
      case 'drag':
        return form.moves.drag(ground, command.dx, command.dy);
      case 'zoom':
        return form.moves.zoom(ground, command, scene.plotPoint(command.at));
      case 'zoomDefault': {
        const reset = zoomAbout(view, DEFAULT_SCALE / view.scale, scene.plotPoint(null), plot, store.whole);
        return [{ ...reset, aspect: DEFAULT_ASPECT }, 'y'];
      }
      case 'fit':
        return [fit({ ...view, aspect: DEFAULT_ASPECT }, plot, store.whole), 'y'];
      case 'first':
        return [{ ...view, x: store.extent.firstCycle - 0.5, y: 0 }, 'x'];
      case 'last':
      case 'follow':
        return form.moves.last(ground);
      case 'return':
        return form.moves.goCycle(ground, view.x + plot.width / view.scale / 4);
      case 'goCycle':
        return form.moves.goCycle(ground, command.cycle);
      case 'align':
        return [{ ...view, x: store.cycleOf(command.row) - Math.min(1, 8 / view.scale) }, 'y'];
      default:
        return null;
    }
  }

  /** Selects, and gives the view in which the selected row is seen; null: it stays as it is. */
  private selectedBy(command: Command): Moved | null {
    const { scene } = this;
    const { selected } = scene;
    const { store, plot } = scene.ground;
    const inside = (row: number): number => Math.max(0, Math.min(Math.max(0, store.rows - 1), row));
    switch (command.do) {
      case 'select':
        scene.selected = command.row === null ? null : inside(command.row);
        return null;
      case 'selectAt':
        return this.selectedAt(command.at, command.align);
      case 'selectNext': {
        if (selected !== null) return this.revealed(this.shownNext(inside(selected), command.count));
        const row = scene.rowAt({ x: plot.width / 3, y: plot.height / 3 });
        return this.revealed(inside(row ?? store.rowAt(cycleAtX(scene.view, plot.width / 3))));
      }
      case 'producer':
      case 'consumer': {
        const row = selected === null ? null : this.neighbour(selected, command.do, store);
        return row === null ? null : this.revealed(row);
      }
      case 'selectId':
        return this.selectedId(command.id, command.cycle);
      case 'reveal':
        return this.revealed(inside(command.row));
      case 'goRow':
        scene.selected = inside(command.row);
        return scene.form.moves.goRow(this.groundWithRows(), scene.selected);
      case 'view':
        scene.selected = command.selected;
        return [command.view, 'y'];
      default:
        return null;
    }
  }

  /** The next row that is not hidden. */
  private shownNext(row: number, count: number): number {
    const { store, lines } = this.scene.ground;
    const next = Math.floor(lines.below(row + 0.5, count));
    return next >= 0 && next < store.rows ? next : row;
  }

  private selectedAt(at: Point, align: boolean): Moved | null {
    const row = this.scene.rowAt(this.scene.plotPoint(at));
    if (row === null) return null;
    this.scene.selected = row;
    return align ? this.moved({ do: 'align', row }) : null;
  }

  private selectedId(id: number, cycle: number): Moved | null {
    const row = this.scene.ground.store.rowOfId(id, cycle);
    return row === null ? null : this.revealed(row);
  }

  private revealed(row: number): Moved {
    const { scene } = this;
    scene.selected = row;
    return scene.form.moves.reveal(this.groundWithRows(), row);
  }

  /** The ground, zoomed in where it shows no rows. */
  private groundWithRows(): Ground {
    const { ground, form } = this.scene;
    if (form.hasRows) return ground;
    return { ...ground, view: { ...ground.view, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT } };
  }

  private neighbour(row: number, which: 'producer' | 'consumer', store: RowStore): number | null {
    const place = store.locate(row);
    if (!place) return null;
    if (which === 'producer') {
      const known = dependenciesOf(place.block, place.index).filter(({ producer }) => producer !== null);
      return known.sort((a, b) => b.cycle - a.cycle)[0]?.producer ?? null;
    }
    for (let next = row + 1; next < row + 1024; next++) {
      const other = store.locate(next);
      if (!other) return null;
      if (dependenciesOf(other.block, other.index).some(({ producer }) => producer === row)) return next;
    }
    return null;
  }
}
