/** Forms of the page, for pictures of it. */
export const PICTURE_FORMS = ['auto', 'classic', 'folded', 'straight', 'strip'] as const;
