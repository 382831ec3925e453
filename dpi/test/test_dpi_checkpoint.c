/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints asked of a design, whose scopes and exported function are played by this file. */
#include <svdpi.h>

#include "client.h"

void uscope_checkpoint_enable(void *w);
void uscope_checkpoint(void *w);

static svScope scope;
static unsigned asked;
static svScope asked_in;

svScope svGetScope(void)
{
    return scope;
}
svScope svSetScope(const svScope given)
{
    svScope before = scope;
    scope = given;
    return before;
}
/* the rest of what a simulator has */
int svLeft(const svOpenArrayHandle h, int d)
{
    return h ? d : 0;
}
int svRight(const svOpenArrayHandle h, int d)
{
    return h ? d : 0;
}
int svSize(const svOpenArrayHandle h, int d)
{
    return h ? d : 0;
}
int svSizeOfArray(const svOpenArrayHandle h)
{
    return h ? 1 : 0;
}
void *svGetArrayPtr(const svOpenArrayHandle h)
{
    return h;
}
void *svGetArrElemPtr1(const svOpenArrayHandle h, int index)
{
    return index ? h : NULL;
}

void uscope_checkpoint(void *w)
{
    asked++;
    asked_in = scope;
    uscope_checkpoint_begin(w, COMMITTED);
    uscope_checkpoint_slot1(w, 0, 5);
    uscope_checkpoint_end(w);
}

static void cycle(uscope_writer_t *w, uint64_t time)
{
    uscope_begin_cycle(w, time);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
}

TEST(the_exported_function_is_called_in_the_scope_that_enabled_it)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *a = uscope_writer_open("a", NULL, NULL, 1000);
    uscope_writer_t *b = uscope_writer_open("b", NULL, NULL, 1000);
    int core_a, core_b, other;
    uscope_checkpoint_enable(NULL);
    uscope_checkpoint_enable(a);
    CHECK_TEXT(message_at(0),
               "a: OP_SNAPSHOT: checkpoint_enable: no scope (is it imported as context?); call rejected");
    scope = &core_a;
    uscope_checkpoint_enable(a);
    scope = &core_b;
    uscope_checkpoint_enable(b);
    scope = &other;
    cycle(a, 0);
    cycle(b, 0);
    CHECK_NUMBER(asked, 0);
    cycle(a, 1000);
    CHECK(asked == 1 && asked_in == &core_a && scope == &other);
    cycle(b, 1500);
    CHECK(asked == 2 && asked_in == &core_b && scope == &other);
    uscope_close(a);
    uscope_close(b);
    CHECK_NUMBER(log_of(d, "a").snapshots, 1);
    CHECK_NUMBER(log_of(d, "b").snapshots, 1);
    finish(d, 1);
}
