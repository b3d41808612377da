// test_shell_session.c - start, line, history and completion of the shell.
// SPDX-License-Identifier: MIT
#include "shell_rig.h"

static void test_first_prompt(void)
{
    fresh();
    CHECK(same(session(""), P));
    CHECK(has(transcript, "Ready in 812 us (812345 ns"));
    CHECK_EQ(ready, 1);
}

static void test_restart_skips_autostart(void)
{
    fresh();
    static char name[] = "shell", again[] = "again";
    static char *argv[] = {name, again, 0};
    disk_file(2, "autorun", 3, "ls\n", 3);
    string_copy(command_line, "run=ls", sizeof(command_line));
    keys = "";
    transcript_len = 0;
    if (!setjmp(no_more_keys)) {
        shell_main(2, argv);
    }
    CHECK(same(transcript, P));
    CHECK_EQ(ready, 0);
}

static void test_several_commands(void)
{
    fresh();
    CHECK(same(session("run hello; nosuch; run flat 1\r"),
               P "run hello; nosuch; run flat 1\n"
                 "error: unknown command 'nosuch': help lists them\n" P));
    CHECK(same(run_words, "[flat][1]"));
    run_words[0] = 0;
    session("run flat; \"open\r"); // nothing of a bad line runs
    CHECK(same(run_words, ""));
}

static void test_history_runs_again(void)
{
    fresh();
    CHECK(same(session("run flat 7\r\033[A\r"),
               P "run flat 7\n" P "run flat 7\n" P));
}

static void test_line_too_long(void)
{
    static char typed[3000];
    fresh();
    memset(typed, 'x', 2000);
    memcpy(typed + 2000, "\rrun flat\r", 11);
    CHECK(has(session(typed), "\nerror: the line is too long: 1024 characters "
                              "at most\n" P "run flat\n" P));
    CHECK(same(run_words, "[flat]"));
}

static void test_run_option(void)
{
    static const char *const lines[][2] = {
        {"console=serial run=\"run flat 0; run flat 1\"",
         P "run flat 0; run flat 1\n" P},
        {"\"run=run flat 0; run flat 1\" loglevel=1",
         P "run flat 0; run flat 1\n" P},
        {"run=\"run flat \\\"1\\\"\"", P "run flat \"1\"\n" P},
        {"a=\"run=no\" run=ver2",
         P "ver2\nerror: unknown command 'ver2': help lists them\n" P},
        {"run=\"run flat 1", P "run flat 1\n" P},
        {"run=", P "\n" P},
        {"norun=x", P}};
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        fresh();
        disk_file(2, "autorun", 3, "run flat\n", 9);
        if (i + 1 == sizeof(lines) / sizeof(lines[0])) {
            disk_file(2, "notthis", 3, "", 0);
        }
        string_copy(command_line, lines[i][0], sizeof(command_line));
        CHECK(same(session(""), lines[i][1]));
    }
}

static void test_autorun(void)
{
    fresh();
    const char text[] = "# a comment; nosuch\n\n  run flat 1\r\n"
                        "nosuch # x\nrun flat 2; run flat 3\n\x01\nrun flat 4";
    disk_file(2, "autorun", 3, text, sizeof(text) - 1);
    disk_file(3, "init.app", 3, "", 9);
    CHECK(same(session("ls x\r"),
               P "  run flat 1\n" P "nosuch # x\nerror: unknown command "
                 "'nosuch': help lists them\n" P "run flat 2; run flat 3\n" P
                 "\nerror: autorun: line 6 is not text\n" P "run flat 4\n" P
                 "ls x\nerror: usage: ls\n" P));
    CHECK_EQ(allocated, 1); // flat stays loaded, autorun's text does not
}

static void test_autorun_too_big(void)
{
    fresh();
    disk_file(2, "autorun", 3, "", 65537);
    CHECK(has(session("x\r"), "error: autorun: 65537 bytes are too many\n" P));
}

static void test_autorun_line_too_long(void)
{
    static char text[LINE_CAP + 20];
    fresh();
    memset(text, 'x', LINE_CAP + 1);
    memcpy(text + LINE_CAP + 1, "\nrun flat\n", 11);
    disk_file(2, "autorun", 3, text, LINE_CAP + 11);
    CHECK(same(session(""),
               P "\nerror: autorun: line 1 is too long\n" P "run flat\n" P));
}

static void test_init_app(void)
{
    fresh();
    disk_file(2, "init.app", 3, "\xC3", 1);
    run_status = 1;
    CHECK(same(session(""),
               P "run init.app\nerror: init.app: exit status 1\n" P));
    CHECK(same(run_words, "[init.app]"));
}

static void test_completion(void)
{
    fresh();
    CHECK(same(session("hel\t\003"), P "help ^C\n" P));
    CHECK(same(session("run h\t\r"), P "run hello.app \n" P));
    CHECK(same(session("ls x;run f\t 1\003"), P "ls x;run flat  1^C\n" P));
    CHECK(same(session("loadr r\t\003"), P "loadr ramdisk.app ^C\n" P));
    CHECK(same(session("help shu\t\003"), P "help shutdown ^C\n" P));
    CHECK(
        same(session("p\t\t\003"), P
             "p\n"
             "pci                 peek                poke                \n" P
             "p^C\n" P));
    CHECK(same(session("loa\tr\t\003"), P "loadr ^C\n" P));
    CHECK(same(session("nosuch h\t\t\003"), P "nosuch h^C\n" P));
    CHECK(same(session("zz\t\t\003"), P "zz^C\n" P));
    CHECK(same(session("ls h\t\003"), P "ls h^C\n" P));
    CHECK(same(session("run hello.app h\t\003"), P "run hello.app h^C\n" P));
    disk_file(2, "needs quotes", 3, "", 1);
    CHECK(same(session("run n\t\t\003"), P "run n^C\n" P));
}

int main(void)
{
    RUN(test_first_prompt);
    RUN(test_restart_skips_autostart);
    RUN(test_several_commands);
    RUN(test_history_runs_again);
    RUN(test_line_too_long);
    RUN(test_run_option);
    RUN(test_autorun);
    RUN(test_autorun_too_big);
    RUN(test_autorun_line_too_long);
    RUN(test_init_app);
    RUN(test_completion);
    return TEST_RESULT();
}
