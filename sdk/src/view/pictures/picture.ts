/** A picture of a trace, whatever drew it. */
export interface Picture {
  /** PNG, or an SVG in UTF-8. */
  readonly bytes: Uint8Array;
  /** What of the trace could not be read: it is missing in the picture. */
  readonly problems: readonly { readonly code: string; readonly what: string }[];
}
