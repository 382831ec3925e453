/** Slices of one track may not overlap, instructions in one stage do: a stage has as many tracks as it holds instructions at a time. */
export class Lanes {
  private readonly stages: { readonly tracks: number[]; readonly busyUntil: number[] }[] = [];

  /** @param open makes a track for a stage */
  constructor(private readonly open: (stage: number) => number) {}

  /** Uuid of a track of the stage on which nothing lies behind `from`. */
  take(stage: number, from: number, to: number): number {
    this.stages[stage] ??= { tracks: [], busyUntil: [] };
    const { tracks, busyUntil } = this.stages[stage];
    let lane = 0;
    while (lane < busyUntil.length && busyUntil[lane] > from) lane++;
    if (lane === tracks.length) tracks.push(this.open(stage));
    busyUntil[lane] = to;
    return tracks[lane] ?? 0;
  }
}
