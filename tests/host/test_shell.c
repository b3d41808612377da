// test_shell.c - the commands of the shell, and what they say of bad input.
// SPDX-License-Identifier: MIT
#include "shell_rig.h"

static void test_ls(void)
{
    fresh();
    const char *got = session("ls\r");
    CHECK(
        has(got, "   1  hello.app                                  10  disk"));
    CHECK(
        has(got, "   2  flat                                        2  disk"));
    CHECK(has(got, "   1  ramdisk.app                                 4  RAM"));
    CHECK(has(got, "   2  hello.app                                  11  RAM"));
}

static void test_load_and_exec_twice(void)
{
    fresh();
    CHECK(same(session("load hello\rexec a \"b c\"\r"),
               P "load hello\nLoaded hello.app, 10 bytes.\n" P
                 "exec a \"b c\"\n" P));
    CHECK(same(run_words, "[hello.app][a][b c]"));
    CHECK_EQ(run_flags, 0);
    CHECK_EQ(run_len, 10);
    u64 sum = run_sum;
    CHECK(same(session("exec\r"), P "exec\n" P));
    CHECK(same(run_words, "[hello.app]"));
    CHECK_EQ(run_sum, sum);
    CHECK_EQ(allocated, 1);
    CHECK(same(session("load 2;exec\r"),
               P "load 2;exec\nLoaded flat, 2 bytes.\n" P));
    CHECK_EQ(run_flags, APP_FLAT);
    CHECK_EQ(allocated, 1);
}

static void test_load_asks(void)
{
    fresh();
    CHECK(has(session("load\r2\rexec\r"),
              "Enter file number: 2\nLoaded flat, 2 bytes.\n" P "exec\n" P));
    CHECK(has(session("load\r\r"), "Enter file number: \nerror: load: no "
                                   "number was given\n" P));
    CHECK(
        has(session("load\r99\r"), "error: load: no file number 99 on a disk"));
    CHECK(has(session("load\r\003ver\r"), "Enter file number: ^C\n" P "ver\n"));
    CHECK(has(session("load;load\r1\r2\r"), "Loaded flat, 2 bytes.\n" P));
}

static void test_loadr(void)
{
    fresh();
    CHECK(same(session("loadr hello;exec 1\r"),
               P "loadr hello;exec 1\nLoaded hello.app, 11 bytes.\n" P));
    CHECK(same(run_words, "[hello.app][1]"));
    CHECK_EQ(allocated, 0);
    CHECK(has(session("loadr 3\r"), "error: loadr: no file number 3 in RAM"));
}

static void test_run(void)
{
    fresh();
    CHECK(same(session("run hello 0 1000000\r"), P "run hello 0 1000000\n" P));
    CHECK(same(run_words, "[hello.app][0][1000000]"));
    CHECK_EQ(run_len, 10);
    CHECK(same(session("run ramdisk\r"), P "run ramdisk\n" P));
    CHECK_EQ(run_len, 4);
    run_status = 3;
    CHECK(has(session("run flat\r"), "error: flat: exit status 3\n" P));
    run_status = E_CRASHED;
    CHECK(has(session("run flat\r"),
              "error: flat: program was ended by an exception\n" P));
}

static void test_without_a_disk_run_looks_in_ram(void)
{
    fresh();
    memset(disk + 1024, 0, 4);
    CHECK(same(session("run hello\r"), P "run hello\n" P));
    CHECK_EQ(run_len, 11);
    CHECK(has(session("load\r"), "error: load: there are no files on a disk"));
}

static void test_bad_files(void)
{
    fresh();
    disk_file(2, "empty", 3, "", 0);
    disk_file(3, "beyond", 3, "", 3 << 20);
    CHECK(has(session("load empty\r"), "error: empty: the file is empty\n" P));
    CHECK(has(session("load beyond\r"), "error: beyond: "));
    mem_left = 5;
    CHECK(has(session("load hello;exec\r"),
              "error: hello.app: not enough memory for its 10 bytes\n"
              "error: exec: nothing is loaded\n" P));
    disk_fails = 1;
    CHECK(has(session("load hello\r"), "error: load: device error\n" P));
    CHECK(has(session("ls\r"), "error: disk 0: device error\n"));
    CHECK_EQ(allocated, 0);
}

static const char *const bad_lines[] = {"peek",
                                        "peek 0x11112222333344445",
                                        "peek 11112222333344445",
                                        "peek -1",
                                        "peek 0x7FFF00000000",
                                        "peek 0",
                                        "peek 99",
                                        "peek zz",
                                        "peek 0x",
                                        "peek 0xFFFFFFFFFFFFFFFF",
                                        "peek 0xFFFFFFFFFFFFFFFF 1",
                                        "peek 0 3",
                                        "peek 0 0",
                                        "peek 1 2 3",
                                        "dump",
                                        "dump 0x11112222333344445",
                                        "dump -1",
                                        "dump 0x7FFF00000000",
                                        "dump 0",
                                        "dump 99",
                                        "dump 0 0",
                                        "dump 0xFFFFFFFFFFFFFFFF 2",
                                        "dump 0 99999999",
                                        "dump 0 -1",
                                        "dump 0 16 16",
                                        "load 0",
                                        "load 99",
                                        "load -1",
                                        "load nosuch",
                                        "load 11112222333344445",
                                        "load 0x11112222333344445",
                                        "load a b",
                                        "loadr 0",
                                        "loadr 99",
                                        "loadr -1",
                                        "run",
                                        "run nosuch",
                                        "run 0",
                                        "run \"\"",
                                        "exec",
                                        "exec now",
                                        "poke",
                                        "poke 0",
                                        "poke 0 1",
                                        "poke 0 256 1",
                                        "poke -1 0",
                                        "poke 0 -1",
                                        "poke 0 0x10000 2",
                                        "nosuch",
                                        "hello",
                                        "flat",
                                        "help nosuch",
                                        "help a b",
                                        "ls x",
                                        "ver 1",
                                        "\"open",
                                        "reboot now",
                                        "shutdown now",
                                        "\"\""};

static void test_bad_input_is_one_error_line(void)
{
    for (unsigned i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        char typed[80], want[80];
        fresh();
        format(typed, sizeof(typed), "%s\r", bad_lines[i]);
        format(want, sizeof(want), P "%s\nerror: ", bad_lines[i]);
        const char *got = session(typed);
        CHECK(strncmp(got, want, strlen(want)) == 0);
        int newlines = 0;
        for (const char *at = got; *at; at++) {
            newlines += *at == '\n';
        }
        CHECK_EQ(newlines, 2);
        if (strncmp(got, want, strlen(want)) != 0 || newlines != 2) {
            printf("%s\n", got);
        }
    }
}

static void test_file_name_as_command_is_a_hint(void)
{
    fresh();
    CHECK(same(session("hello\r"),
               P "hello\nerror: 'hello' is a file: run hello\n" P));
}

static void test_peek_poke_dump(void)
{
    char typed[200], want[200];
    fresh();
    page[0] = 0x8877665544332211;
    format(typed, sizeof(typed), "peek %lu;peek %#lx 1;peek %lu 4\r", (u64)page,
           (u64)page + 1, (u64)page);
    format(want, sizeof(want),
           "\n0x%016lx: 0x8877665544332211\n0x%016lx: 0x22\n"
           "0x%016lx: 0x44332211\n" P,
           (u64)page, (u64)page + 1, (u64)page);
    CHECK(has(session(typed), want));
    format(typed, sizeof(typed), "poke %lu 0xABCD 2;poke %lu 7\r", (u64)page,
           (u64)(page + 1));
    session(typed);
    CHECK_EQ(page[0], 0x887766554433ABCDul);
    CHECK_EQ(page[1], 7);
    format(typed, sizeof(typed), "poke %lu 1\r", (u64)fixed);
    CHECK(has(session(typed), "is read-only\n"));
    CHECK_EQ(fixed[0], 0);
    format(typed, sizeof(typed), "dump %lu 4097\r", (u64)page);
    if ((u64)page + 4096 != (u64)fixed) { // the page after it may be mapped
        CHECK(has(session(typed), "error: dump: nothing is mapped at"));
    }
    memcpy(page, "Ingot bytes\n\x7F\xFFxy", 16);
    format(typed, sizeof(typed), "dump %lu 17\r", (u64)page);
    format(want, sizeof(want),
           "\n%016lx  49 6e 67 6f 74 20 62 79 74 65 73 0a 7f ff 78 79  "
           "Ingot bytes...xy\n%016lx  07                                      "
           "         .\n" P,
           (u64)page, (u64)page + 16);
    page[2] = 7;
    CHECK(has(session(typed), want));
}

static void check_date(u64 seconds, const char *want)
{
    char text[40];
    struct date d = date_from_seconds(seconds);
    format(text, sizeof(text), "%lu-%u-%u %u:%u:%u", d.year, d.month, d.day,
           d.hour, d.minute, d.second);
    CHECK(same(text, want));
}

static void test_dates(void)
{
    check_date(0, "1970-1-1 0:0:0");
    check_date(951782399, "2000-2-28 23:59:59");
    check_date(951782400, "2000-2-29 0:0:0");
    check_date(4107542399, "2100-2-28 23:59:59");
    check_date(4107542400, "2100-3-1 0:0:0");
    check_date(1796078526, "2026-11-30 22:42:6");
    check_date(1798761599, "2026-12-31 23:59:59");
    check_date(12622780800, "2370-1-1 0:0:0");
}

// Address and length that wrap around must not look like a short range.
static void test_the_end_of_memory(void)
{
    fresh();
    CHECK(has(session("dump 0xFFFFFFFFFFFFFFF0 64\r"),
              "error: dump: 0xfffffffffffffff0 + 64 is past the end"));
    CHECK(has(session("peek 0xFFFFFFFFFFFFFFF9\r"), "past the end of memory"));
    CHECK(has(session("poke 0xFFFFFFFFFFFFFFFF 1 2\r"),
              "past the end of memory"));
    CHECK(has(session("peek 0xFFFFFFFFFFFFFFF8\r"), "nothing is mapped"));
}

int main(void)
{
    RUN(test_ls);
    RUN(test_load_and_exec_twice);
    RUN(test_load_asks);
    RUN(test_loadr);
    RUN(test_run);
    RUN(test_without_a_disk_run_looks_in_ram);
    RUN(test_bad_files);
    RUN(test_bad_input_is_one_error_line);
    RUN(test_file_name_as_command_is_a_hint);
    RUN(test_peek_poke_dump);
    RUN(test_dates);
    RUN(test_the_end_of_memory);
    return TEST_RESULT();
}
