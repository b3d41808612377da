// errors.c - every failure is one line that begins with "error: ".
// SPDX-License-Identifier: MIT
#include "shell.h"

int shell_error(const char *format, ...)
{
    int colours = shell_at_screen();
    va_list args;
    va_start(args, format);
    print_text(colours ? "\033[91merror: " : "error: "); // red
    print_args(format, args);
    print_text(colours ? "\033[0m\n" : "\n");
    va_end(args);
    return E_ARG;
}

int shell_failed(const char *what, int error)
{
    (void)shell_error("%s: %s", what, os->sys_error(error));
    return error;
}

int shell_number(const char *command, const char *text, u64 *value)
{
    const char *why = args_parse(text, value);
    return why ? shell_error("%s: '%s' %s", command, text, why) : 0;
}
