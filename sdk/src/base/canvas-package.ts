/**
 * What npm installs to draw a picture without a browser: the release that was tested and those that keep its interface. Alone here, because
 * every command names it.
 */
export const CANVAS_PACKAGE = '@napi-rs/canvas@1';
