// main.c - the shell: a prompt, lines, commands. A program like any other,
// carried in the kernel image; when it ends or crashes the kernel starts a
// fresh copy with the argument "again".
// SPDX-License-Identifier: MIT
#include "shell.h"

static const char plain_prompt[] = "ingot> ";
static const char colour_prompt[] = "\033[92mingot>\033[0m "; // green

static void emit(const char *text, u64 len)
{
    if (len > 0) {
        (void)os->con_write(text, len);
    }
}

static struct line line; // too big for the stack

// Colours only where there is surely a terminal: our own screen.
static void show_prompt(void)
{
    line_begin(&line, shell_at_screen() ? colour_prompt : plain_prompt);
}

// One byte at a time: what was typed ahead stays in the kernel's ring, where
// the program that a line starts can read it.
static enum line_event read_line(void)
{
    for (;;) {
        u8 byte;
        if (os->con_read(&byte, 1, -1) <= 0) {
            continue;
        }
        enum line_event event = line_feed(&line, byte);
        if (event == LINE_TOO_LONG) {
            (void)shell_error("the line is too long: %u characters at most",
                              LINE_CAP);
        }
        if (event != LINE_MORE) {
            return event;
        }
    }
}

const char *shell_ask(const char *question)
{
    line_begin(&line, question);
    return read_line() == LINE_DONE ? line.text : 0;
}

void shell_type(const char *text)
{
    print("%s\n", text);
    commands_run(text);
    show_prompt();
}

void shell_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_text("\nerror: ");
    print_args(format, args);
    print_text("\n");
    va_end(args);
    show_prompt();
}

// The kernel counts from its first instruction to sys_ready().
static void say_ready(void)
{
    struct time_info info;
    (void)os->sys_ready();
    (void)os->time_info(&info);
    if (info.boot_ns == 0) {
        print_text("Ready. This machine has no clock.\n");
        return;
    }
    print("Ready in %lu us (%lu ns from the kernel's first instruction).\n",
          info.boot_ns / 1000, info.boot_ns);
}

int main(int argc, char **argv)
{
    line.emit = emit;
    line.complete = complete_line;
    int again = argc > 1 && strcmp(argv[1], "again") == 0;
    if (!again) {
        say_ready();
    }
    show_prompt();
    if (!again) { // what crashed the shell must not do it for ever
        autostart();
    }
    for (;;) {
        if (read_line() == LINE_DONE) {
            line_remember(&line);
            pager_allow(shell_at_screen());
            commands_run(line.text);
            pager_allow(0);
        }
        show_prompt();
    }
}
