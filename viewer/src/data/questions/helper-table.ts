/** Questions that may take long: they are asked of workers that can be ended, which load what answers them on demand. */
import { alive } from './alive.js';
import { find } from './find.js';
import { profile, profileProgress } from './profile.js';
import { statistics, statisticsProgress } from './statistics.js';

export const HELPER_QUESTIONS = {
  alive,
  find,
  profile,
  profileProgress,
  statistics,
  statisticsProgress,
} as const;
