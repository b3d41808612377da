// commands.c - every command of the shell, and how a line of them is run.
// SPDX-License-Identifier: MIT
#include "parse.h"
#include "files.h"
#include "shell.h"

// clang-format off
const struct command shell_commands[] = {
    {"help", "[COMMAND]", "what there is, or more about one command", "",
     0, 1, OFFER_COMMANDS, command_help},
    {"ls", "", "list the files on disk and in RAM", "",
     0, 0, OFFER_NOTHING, command_ls},
    {"load", "[NAME|NUMBER]", "load a file from disk, for exec",
     "Without an argument it lists the files and asks. NAME stands for\n"
     "NAME.app too. The file stays loaded until the next load or run.\n",
     0, 1, OFFER_FILES, command_load},
    {"loadr", "[NAME|NUMBER]", "the same from the boot modules in RAM", "",
     0, 1, OFFER_MODULES, command_loadr},
    {"exec", "[ARGUMENTS]", "run the loaded file",
     "Each run begins from the file as it was loaded. Ctrl-C ends it.\n",
     0, ANY_NUMBER, OFFER_NOTHING, command_exec},
    {"run", "NAME|NUMBER [ARGUMENTS]", "load a file and run it",
     "Looks on the disks, then in RAM. Ctrl-C ends the program.\n",
     1, ANY_NUMBER, OFFER_FILES, command_run},
    {"ver", "", "version, loader and command line", "",
     0, 0, OFFER_NOTHING, command_ver},
    {"cls", "", "clear the screen", "", 0, 0, OFFER_NOTHING, command_cls},
    {"mem", "", "memory: totals and the firmware's map", "",
     0, 0, OFFER_NOTHING, command_mem},
    {"pci", "", "PCI functions and their drivers", "",
     0, 0, OFFER_NOTHING, command_pci},
    {"net", "", "network interfaces and their counters", "",
     0, 0, OFFER_NOTHING, command_net},
    {"disk", "", "disks and their counters", "",
     0, 0, OFFER_NOTHING, command_disk},
    {"cpu", "", "the processor", "", 0, 0, OFFER_NOTHING, command_cpu},
    {"time", "", "clock, uptime and date", "",
     0, 0, OFFER_NOTHING, command_time},
    {"peek", "ADDRESS [1|2|4|8]", "read memory, 8 bytes unless told",
     "Numbers are decimal, or hexadecimal after 0x. Device registers are\n"
     "read with one access of that size.\n",
     1, 2, OFFER_NOTHING, command_peek},
    {"poke", "ADDRESS VALUE [1|2|4|8]", "write memory, 8 bytes unless told",
     "Nothing is checked but that the page is there and can be written.\n",
     2, 3, OFFER_NOTHING, command_poke},
    {"dump", "ADDRESS [LENGTH]", "show memory, 128 bytes unless told", "",
     1, 2, OFFER_NOTHING, command_dump},
    {"log", "", "the kernel's log", "", 0, 0, OFFER_NOTHING, command_log},
    {"diag", "", "what a bug report needs, on one screen", "",
     0, 0, OFFER_NOTHING, command_diag},
    {"reboot", "", "reset the machine", "",
     0, 0, OFFER_NOTHING, command_reboot},
    {"shutdown", "", "power the machine off", "",
     0, 0, OFFER_NOTHING, command_shutdown},
    {.name = 0},
};
// clang-format on

const struct command *command_find(const char *name, u64 len)
{
    for (const struct command *c = shell_commands; c->name; c++) {
        if (strlen(c->name) == len && memcmp(c->name, name, len) == 0) {
            return c;
        }
    }
    return 0;
}

static int unknown_command(const char *name)
{
    struct file file;
    if (files_find_name(ON_DISK, name, &file) == 0 ||
        files_find_name(IN_RAM, name, &file) == 0) {
        return shell_error("'%s' is a file: run %s", name, name);
    }
    return shell_error("unknown command '%s': help lists them", name);
}

int command_help(int argc, char **argv)
{
    if (argc == 1) {
        for (const struct command *c = shell_commands; c->name; c++) {
            print("%-9s%-24s%s\n", c->name, c->args, c->line);
        }
        print_text("Several commands on a line: separate them with ';'.\n");
        return 0;
    }
    const struct command *c = command_find(argv[1], strlen(argv[1]));
    if (!c) {
        return shell_error("help: no command '%s'", argv[1]);
    }
    print("%s%s%s - %s\n%s", c->name, *c->args ? " " : "", c->args, c->line,
          c->more);
    return 0;
}

static int command_dispatch(int argc, char **argv)
{
    const struct command *c = command_find(argv[0], strlen(argv[0]));
    if (!c) {
        return unknown_command(argv[0]);
    }
    if (argc - 1 < c->least || argc - 1 > c->most) {
        return shell_error("usage: %s%s%s", c->name, *c->args ? " " : "",
                           c->args);
    }
    pager_begin();
    int result = c->run(argc, argv);
    pager_end();
    return result;
}

void commands_run(const char *line)
{
    // Static: too big for the stack. Nothing that runs here comes back in.
    static char text[LINE_CAP + 1];
    static struct parsed parsed;
    string_copy(text, line, sizeof(text));
    const char *why = parse_line(text, &parsed);
    if (why) {
        (void)shell_error("%s", why);
        return;
    }
    char **words = parsed.words;
    while (words < parsed.words + parsed.n) {
        int argc = 0;
        while (words[argc]) {
            argc++;
        }
        if (argc > 0) {
            (void)command_dispatch(argc, words);
        }
        words += argc + 1;
    }
}
