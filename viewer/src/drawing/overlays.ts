/** What is painted above every form of the picture, in this order. */
import { paintAxis, paintCursor, paintHit } from './axis.js';
import type { Frame } from './frame.js';
import { paintPlaces, paintRange } from './places.js';

export type Overlay = (frame: Frame) => void;

export const OVERLAYS: readonly Overlay[] = [paintRange, paintAxis, paintHit, paintPlaces, paintCursor];
