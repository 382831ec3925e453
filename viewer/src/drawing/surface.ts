/** What texts and lines are painted with: a canvas, or the writer of an SVG. Of a canvas only this may be used to paint a picture. */
export type Paint = Pick<
  OffscreenCanvasRenderingContext2D,
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'globalAlpha'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
  | 'setLineDash'
  | 'save'
  | 'restore'
  | 'beginPath'
  | 'rect'
  /** Of a path that is one rectangle. */
  | 'clip'
  | 'moveTo'
  | 'lineTo'
  | 'bezierCurveTo'
  | 'arc'
  | 'closePath'
  | 'stroke'
  | 'fill'
  | 'fillRect'
  | 'fillText'
  | 'measureText'
>;
