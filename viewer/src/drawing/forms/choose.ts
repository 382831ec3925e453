/** Which form a picture has: by zoom, or as the user chose. */
import { rowHeight, type View } from '../../model/view.js';
import { type FormName, MIN_CLASSIC_HEIGHT, type Settings } from '../settings.js';
import { Classic } from './classic.js';
import type { Form } from './form.js';
import { Strip } from './strip.js';

export function chooseForm(view: View, { form }: Pick<Settings, 'form'>): FormName {
  if (form !== 'auto') return form;
  return rowHeight(view) < MIN_CLASSIC_HEIGHT ? 'strip' : 'classic';
}

/** One of each: they keep what they need from one picture to the next. */
export function makeForms(): Readonly<Record<FormName, Form>> {
  return { classic: new Classic(), strip: new Strip() };
}
