/** A part of the page's script that is fetched when somebody opens the panel. */
export { Sql } from './panel.js';
