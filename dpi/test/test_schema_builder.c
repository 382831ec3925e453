/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas made by calls: the text that comes out, and definitions that cannot be. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "uscope.h"

TEST(definitions_become_the_json_of_the_schema_grammar)
{
    uscope_schema_t *s = uscope_schema_new();
    CHECK(uscope_schema_dut(s, "dut_name", "a \"quoted\" \\ name\n") == 0);
    CHECK(uscope_schema_clock(s, "core_clk", 1000) == 0);
    CHECK(uscope_schema_enum_value(s, "flush_reason", "mispredict", 0) == 0);
    CHECK(uscope_schema_enum_value(s, "flush_reason", "exception", 5) == 0);
    CHECK(uscope_schema_scope(s, "core0", "cpu", "core_clk") == 0);
    CHECK(uscope_schema_scope(s, "core0/lsu", NULL, NULL) == 0);
    CHECK(uscope_schema_storage(s, "core0/rob", 256, USCOPE_BUFFER) == 0);
    CHECK(uscope_schema_field(s, "core0/rob", "entity_id", "u32") == 0);
    CHECK(uscope_schema_field(s, "core0/rob", "why", "flush_reason") == 0);
    CHECK(uscope_schema_property(s, "core0/rob", "retire_ptr", "u16", USCOPE_HEAD, 1) == 0);
    CHECK(uscope_schema_property(s, "core0/rob", "mode", "u8", USCOPE_PLAIN, 0) == 0);
    CHECK(uscope_schema_storage(s, "core0/lsu/misses", 1, USCOPE_DENSE) == 0);
    CHECK(uscope_schema_field(s, "core0/lsu/misses", "count", "u64") == 0);
    CHECK(uscope_schema_event(s, "core0/flush") == 0);
    CHECK(uscope_schema_event_field(s, "core0/flush", "reason", "flush_reason") == 0);
    CHECK(uscope_schema_event(s, "tick") == 0);
    CHECK_TEXT(
        uscope_schema_text(s),
        "{\"uscope\":1,\"dut\":{\"dut_name\":\"a \\\"quoted\\\" \\\\ name\\u000a\"},\"clocks\":{\"core_clk\":{\"period_ps\":1000}},"
        "\"enums\":{\"flush_reason\":{\"mispredict\":0,\"exception\":5}},\"scopes\":{\"core0\":{\"protocol\":\"cpu\",\"clock\":\"core_clk\","
        "\"scopes\":{\"lsu\":{\"storages\":{\"misses\":{\"slots\":1,\"kind\":\"dense\",\"fields\":{\"count\":\"u64\"}}}}},"
        "\"storages\":{\"rob\":{\"slots\":256,\"kind\":\"buffer\",\"fields\":{\"entity_id\":\"u32\",\"why\":\"flush_reason\"},"
        "\"properties\":{\"retire_ptr\":{\"type\":\"u16\",\"role\":\"head\",\"pair\":1},\"mode\":{\"type\":\"u8\"}}}},"
        "\"events\":{\"flush\":{\"reason\":\"flush_reason\"}}}},\"events\":{\"tick\":{}}}");
    uscope_schema_free(s);
}

TEST(what_cannot_be_defined_is_refused_with_a_code)
{
    uscope_schema_t *s = uscope_schema_new();
    CHECK(uscope_schema_storage(s, "core0/rob", 1, USCOPE_DENSE) == -1);
    CHECK_TEXT(uscope_last_error_code(), "SCHEMA_NAME");
    CHECK_TEXT(uscope_last_error_message(), "\"core0/rob\": the scope \"core0\" is not defined");
    CHECK(uscope_schema_storage(s, "rob", 1, USCOPE_DENSE) == 0);
    CHECK(uscope_schema_storage(s, "rob", 1, USCOPE_DENSE) == -1);
    CHECK_TEXT(uscope_last_error_code(), "SCHEMA_DUPLICATE");
    CHECK_TEXT(uscope_last_error_message(), "storage \"rob\" is defined twice");
    CHECK(uscope_schema_field(s, "bor", "a", "u8") == -1);
    CHECK_TEXT(uscope_last_error_message(), "storage \"bor\" is not defined");
    CHECK(uscope_schema_event_field(s, NULL, "a", "u8") == -1);
    CHECK(uscope_schema_clock(NULL, "clk", 1) == -1);
    uscope_schema_free(s);
    s = uscope_schema_from_text("uscope: 1", NULL);
    CHECK(uscope_schema_clock(s, "clk", 1) == -1);
    CHECK_TEXT(uscope_schema_text(s), "uscope: 1");
    uscope_schema_free(s);
    CHECK(!uscope_schema_from_file("/nonexistent/schema.yaml"));
    CHECK_TEXT(uscope_last_error_code(), "READER_OPEN");
    CHECK_TEXT(uscope_last_error_message(),
               "cannot read /nonexistent/schema.yaml: No such file or directory");
    CHECK(!uscope_schema_from_file(test_directory()));
    uscope_schema_free(NULL);
}
