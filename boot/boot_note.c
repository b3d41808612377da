// boot_note.c - copies a loader's strings and modules, notes what is wrong.
// SPDX-License-Identifier: MIT
#include "boot_read.h"
#include "../lib/format.h"
#include "../lib/string.h"

void boot_note_error(struct boot_info *info, const char *format, ...)
{
    u64 used = strnlen(info->errors, BOOT_ERRORS_CAP);
    u64 room = BOOT_ERRORS_CAP - used;
    if (room < 2) {
        return;
    }
    va_list args;
    va_start(args, format);
    u64 len = format_args(info->errors + used, room, format, args);
    va_end(args);
    if (len + 2 > room) {
        info->errors[used] = 0;
        return;
    }
    info->errors[used + len] = '\n';
    info->errors[used + len + 1] = 0;
}

int boot_note_text(char *to, u64 cap, const char *text, u64 len)
{
    u64 n = strnlen(text, len);
    u64 copied = n < cap ? n : cap - 1;
    memcpy(to, text, copied);
    to[copied] = 0;
    return n < len && n == copied;
}

// The last path part of the first word. GRUB puts a word with a space in it
// between double quotes, and a backslash before quotes.
static void boot_note_name(char *to, u64 cap, const char *text, u64 len)
{
    u64 at = 0, n = 0, end = strnlen(text, len);
    int quoted = 0;
    while (at < end && text[at] == ' ') {
        at++;
    }
    for (; at < end && (quoted || text[at] != ' '); at++) {
        if (text[at] == '"') {
            quoted = !quoted;
            continue;
        }
        at += text[at] == '\\' && at + 1 < end;
        if (text[at] == '/') {
            n = 0;
        } else if (n < cap - 1) {
            to[n++] = text[at];
        }
    }
    to[n] = 0;
}

void boot_note_module(struct boot_info *info, u64 phys, u64 len,
                      const char *command, u64 command_len)
{
    if (info->n_modules == BOOT_MODULES) {
        boot_note_error(info, "boot: more than %d modules", BOOT_MODULES);
        return;
    }
    struct boot_module *module = &info->modules[info->n_modules++];
    module->phys = phys;
    module->len = len;
    boot_note_name(module->name, sizeof(module->name), command, command_len);
}
