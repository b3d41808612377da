// shell.h - what the rooms of the shell share.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"
#include "../../lib/string.h"
#include "../lib/args.h"
#include "../lib/print.h"
#include "line.h"

// What Tab offers for a command's first argument.
enum offer { OFFER_NOTHING, OFFER_COMMANDS, OFFER_FILES, OFFER_MODULES };

struct command {
    const char *name;
    const char *args; // as help shows them
    const char *line; // one line of help
    const char *more; // the rest of it, "" for none
    u8 least, most;   // arguments it takes
    u8 offer;         // enum offer
    // argv[argc] is null. Prints its own error line; returns < 0 then.
    int (*run)(int argc, char **argv);
};

enum { ANY_NUMBER = 255 };

// commands.c
extern const struct command shell_commands[]; // a null name ends it
const struct command *command_find(const char *name, u64 len);
int command_help(int argc, char **argv);
// Run every command of a line. Each failure has printed its error line.
void commands_run(const char *text);

// errors.c: print "error: ", the text and a newline. Returns E_ARG.
int shell_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// "error: WHAT: text of that error". Returns the error.
int shell_failed(const char *what, int error);
// A number argument of a command; prints the error line when it is none.
int must_check shell_number(const char *command, const char *text, u64 *value);

// main.c
const char *shell_ask(const char *prompt); // a line, or null after Ctrl-C
void shell_type(const char *text);         // as if typed at the prompt
// An error line while the prompt is up, and the prompt again.
void shell_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

// pager.c: where it is allowed, what is printed from begin to end stops after
// each page.
void pager_allow(int on);
void pager_begin(void);
void pager_end(void);
int shell_at_screen(void); // 1: a person sits before screen and keyboard

// autostart.c: what the machine's owner wants run before the first key.
void autostart(void);

// complete.c: what Tab does in the line editor.
void complete_line(struct line *line, int again);

// cmd_*.c
int command_ls(int argc, char **argv);
int command_load(int argc, char **argv);
int command_loadr(int argc, char **argv);
int command_exec(int argc, char **argv);
int command_run(int argc, char **argv);
int command_ver(int argc, char **argv);
int command_cls(int argc, char **argv);
int command_cpu(int argc, char **argv);
int command_time(int argc, char **argv);
int command_log(int argc, char **argv);
int command_reboot(int argc, char **argv);
int command_shutdown(int argc, char **argv);
int command_pci(int argc, char **argv);
int command_net(int argc, char **argv);
int command_disk(int argc, char **argv);
int command_mem(int argc, char **argv);
int command_peek(int argc, char **argv);
int command_poke(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_diag(int argc, char **argv);
