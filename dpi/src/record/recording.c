/* SPDX-License-Identifier: Apache-2.0 */
/* What a session holds for recording, and no other layer knows. */
#include "record/recording.h"

static void free_recording(struct uscopei_session *s)
{
    uscopei_snapshot_free(s->snapshot);
    uscopei_control_free(s->control);
    uscopei_string_cache_free(s->strings);
}

void uscopei_recording_begin(struct uscopei_session *s)
{
    s->free_recording = free_recording;
    if (s->schema->has_strings) s->strings = uscopei_string_cache_new();
}
