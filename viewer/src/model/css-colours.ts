/**
 * The colours of elements as CSS variables: those of the picture (`palette.ts`), and a few that only elements have. The build makes the style sheet
 * `colours.css` of them, which every page of the viewer imports.
 */
import { THEMES, type ThemeName } from './palette.js';

const OF_ELEMENTS: Readonly<Record<ThemeName, Readonly<Record<string, string>>>> = {
  dark: { surface: '#1c2129', hover: '#2a313c', changed: '#f5b84a', shadow: '0 8px 28px rgb(0 0 0 / 45%)' },
  light: {
    surface: '#ffffff',
    hover: '#e8ecf2',
    changed: '#9a5b00',
    shadow: '0 8px 28px rgb(20 30 50 / 18%)',
  },
};
/** The same on light and dark: what is being recorded, and what is below a dialog. */
const OF_BOTH = { live: '#e5484d', backdrop: 'rgb(0 0 0 / 35%)' };

/** Dark, unless the page or, where it does not say, the browser chooses light. */
export const cssColours = (): string => `
:root { color-scheme: dark; ${variablesOf('dark')} }
:root[data-theme="light"] { color-scheme: light; ${variablesOf('light')} }
@media (prefers-color-scheme: light) { :root:not([data-theme]) { color-scheme: light; ${variablesOf('light')} } }
`;

function variablesOf(name: ThemeName): string {
  const { background, gutter, gridStrong, grid, text, dim, accent, flush, cursor, bookmark } = THEMES[name];
  const ofPicture = {
    background,
    gutter,
    line: gridStrong,
    grid,
    text,
    dim,
    accent,
    flush,
    cursor,
    bookmark,
  };
  const all = { ...ofPicture, ...OF_ELEMENTS[name], ...OF_BOTH };
  return Object.entries(all)
    .map(([variable, colour]) => `--${variable}: ${colour};`)
    .join(' ');
}
