/** What the first picture does not need of the page: a part of its script, fetched after the picture. */

export { handOn } from '../page/hand-on.js';
export { goToNearest, stopNearest } from '../page/nearest.js';
export { takePicture } from '../page/picture.js';
export { goBookmark, PLACE_ACTIONS, setBookmark } from '../page/place-actions.js';
export { beginSearch, clearSearch, stepSearch, stopSearch } from '../page/search.js';
export { Card } from './card.js';
export { Counters } from './counters.js';
export { EventOverview } from './event-overview.js';
export { Help } from './help.js';
export { Inspector } from './inspector.js';
export { Palette } from './palette.js';
export { PlacesPanel } from './places.js';
export { Profile } from './profile.js';
export { Results } from './results.js';
export { SearchBar } from './search-bar.js';
export { Statistics } from './statistics.js';
export { StatusLine } from './status-line.js';
export { Events, Occupancy, Values } from './track-lanes.js';
export { Transactions } from './transactions.js';
