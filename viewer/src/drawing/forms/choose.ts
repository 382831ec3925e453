/** Which form a picture has: by zoom, or as the user chose. */
import { rowHeight, type View } from '../../model/view.js';
import { type FormName, MIN_BOX_HEIGHT, MIN_ROWS_SCALE, type Settings } from '../settings.js';
import { Classic } from './classic.js';
import { Folded } from './folded.js';
import type { Form } from './form.js';
import { Straight } from './straight.js';
import { Strip } from './strip.js';

export function chooseForm(view: View, { form }: Pick<Settings, 'form'>): FormName {
  if (form !== 'auto') return form;
  if (view.scale < MIN_ROWS_SCALE) return 'strip';
  return rowHeight(view) < MIN_BOX_HEIGHT ? 'folded' : 'classic';
}

/** One of each: they keep what they need from one picture to the next. */
export class Forms {
  private readonly made: Readonly<Record<FormName, Form>> = {
    classic: new Classic(),
    folded: new Folded(),
    straight: new Straight(),
    strip: new Strip(),
  };

  get(name: FormName): Form {
    return this.made[name];
  }
}
