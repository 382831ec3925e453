/* A model of two cores that were given one name, and that asks for things its schema does not have. With SHIM it opens its traces
 * as SystemVerilog does. */
#include <stdio.h>

#include "uscope.h"

#ifdef SHIM
/* Of a simulator; nothing here calls them. */
#define ABSENT(name) \
    void name(void)  \
    {                \
    }
ABSENT(svSize)
ABSENT(svLeft)
ABSENT(svRight)
ABSENT(svGetArrayPtr)
ABSENT(svGetArrElemPtr1)
ABSENT(svSizeOfArray)

uscope_writer_t *uscope_open_checked(const char *name, const char *schema_path, const char *schema_sha256,
                                     const char *variables);

static uscope_writer_t *open_core(unsigned core)
{
    return uscope_open_checked("core0", NULL, NULL, core ? "core=1" : "core=0");
}
#else
static uscope_writer_t *open_core(unsigned core)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "core0";
    options.core_index = core;
    return uscope_writer_open_opts(&options);
}
#endif

int main(void)
{
    uscope_writer_t *first = open_core(0);
    if (!first) return 1;
    uscope_storage_id(first, "core0/entites");
    uscope_storage_id(first, "rob");
    uscope_storage_id(first, "scoreboard");
    printf("second: %s\n", open_core(1) ? "open" : "refused");
    uscope_close(first);
    return 0;
}
