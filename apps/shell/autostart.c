// autostart.c - what runs before the first key: the kernel command line's run=,
// else the disk's autorun, else its init.app. Each is typed at the prompt.
// SPDX-License-Identifier: MIT
#include "files.h"
#include "shell.h"

enum { AUTORUN_MOST = 65536 }; // bytes

// Copy one word of the kernel command line, without its quotes. The boot
// loader may have put them around the whole word ("run=a b") and a backslash
// before every quote inside. Returns where the word ends.
static const char *copy_word(const char *from, char *to, u64 cap)
{
    u64 len = 0;
    int quoted = 0;
    for (; *from && (quoted || *from != ' '); from++) {
        if (*from == '"') {
            quoted = !quoted;
            continue;
        }
        if (*from == '\\' && from[1]) {
            from++;
        }
        if (len + 1 < cap) {
            to[len++] = *from;
        }
    }
    to[len] = 0;
    return from;
}

// The value of run= into text. Returns 0 when it is not there.
static int find_run_option(const char *command_line, char *text, u64 cap)
{
    while (*command_line) {
        command_line = copy_word(command_line, text, cap);
        if (strncmp(text, "run=", 4) == 0) {
            memmove(text, text + 4, strlen(text + 4) + 1);
            return 1;
        }
        command_line += *command_line == ' ';
    }
    return 0;
}

static int autostart_option(void)
{
    struct sys_info info;
    char text[sizeof(info.command_line)];
    (void)os->sys_info(&info);
    info.command_line[sizeof(info.command_line) - 1] = 0;
    if (!find_run_option(info.command_line, text, sizeof(text))) {
        return 0;
    }
    shell_type(text);
    return 1;
}

static int is_text(const char *line, u64 len)
{
    for (u64 i = 0; i < len; i++) {
        if ((line[i] < ' ' || line[i] > '~') && line[i] != '\t') {
            return 0;
        }
    }
    return 1;
}

static void autorun_line(const char *from, u64 len, u32 number)
{
    static char line[LINE_CAP + 1]; // not on the stack: a program runs below
    while (len > 0 && (from[len - 1] == '\r' || from[len - 1] == ' ')) {
        len--;
    }
    if (len == 0 || from[0] == '#') {
        return;
    }
    if (len > LINE_CAP || !is_text(from, len)) {
        shell_warn("autorun: line %u is %s", number,
                   len > LINE_CAP ? "too long" : "not text");
        return;
    }
    string_copy(line, from, len + 1);
    shell_type(line);
}

static void autorun_lines(const char *text, u64 bytes)
{
    u64 start = 0;
    for (u32 number = 1; start < bytes; number++) {
        u64 end = start;
        while (end < bytes && text[end] != '\n') {
            end++;
        }
        autorun_line(text + start, end - start, number);
        start = end + 1;
    }
}

static void autorun(const struct file *file)
{
    void *text;
    const char *why;
    if (file->bytes > AUTORUN_MOST) {
        shell_warn("autorun: %lu bytes are too many", file->bytes);
        return;
    }
    if (file->bytes == 0) {
        return;
    }
    int error = os->mem_alloc(file->bytes, 0, &text);
    if (error < 0) {
        shell_warn("autorun: %s", os->sys_error(error));
        return;
    }
    if (files_read(file, text, &why) < 0) {
        shell_warn("autorun: %s", why);
    } else {
        autorun_lines(text, file->bytes);
    }
    (void)os->mem_free(text, file->bytes);
}

void autostart(void)
{
    struct file file;
    if (autostart_option()) {
        return;
    }
    if (files_find_exact(ON_DISK, "autorun", &file) == 0) {
        autorun(&file);
    } else if (files_find_exact(ON_DISK, "init.app", &file) == 0) {
        shell_type("run init.app");
    }
}
