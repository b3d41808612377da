// cmd_files.c - ls, load, loadr, exec, run: from a name to a running program.
// SPDX-License-Identifier: MIT
#include "files.h"
#include "shell.h"

// The file that exec runs. app_run works on a copy of it, so that the second
// run is as good as the first.
static struct {
    const void *data; // null: nothing is loaded
    u64 bytes;
    void *memory; // ours to give back; a boot module stays where it is
    char name[64];
} loaded;

// ---- ls ----

static void list_row(const struct file *file, enum file_place place)
{
    print("%4u  %-32s %12lu  ", file->number, file->name, file->bytes);
    if (place == IN_RAM) {
        print("RAM\n");
    } else {
        print("disk %u%s%s\n", file->disk, file->problem ? "  " : "",
              file->problem ? file->problem : "");
    }
}

// Returns how many there are. A disk that failed has its error line.
static u32 list_files(enum file_place place)
{
    struct file file;
    struct file_walk walk = {.place = place};
    while (files_next(&walk, &file)) {
        if (walk.number == 1) {
            print("%4s  %-32s %12s  %s\n", "No.", "Name", "Bytes", "Place");
        }
        list_row(&file, place);
    }
    if (walk.error < 0) {
        (void)shell_error("disk %u: %s", walk.error_disk,
                          os->sys_error(walk.error));
    }
    return walk.number;
}

int command_ls(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct module_info module;
    print_text("Files on disk (load):\n");
    if (list_files(ON_DISK) == 0) {
        print_text(os->app_module(0, &module) < 0
                       ? "  none\n"
                       : "  none. Of a USB stick, only its /apps is there, as "
                         "files in RAM:\n");
    }
    print_text("Files in RAM (loadr):\n");
    if (list_files(IN_RAM) == 0) {
        print_text("  none\n");
    }
    return 0;
}

// ---- load ----

static void unload(void)
{
    if (loaded.memory) {
        (void)os->mem_free(loaded.memory, loaded.bytes);
    }
    loaded.memory = 0;
    loaded.data = 0;
    loaded.bytes = 0;
}

static int load_from_disk(const struct file *file)
{
    void *memory;
    const char *why;
    int error = os->mem_alloc(file->bytes, 0, &memory);
    if (error < 0) {
        (void)shell_error("%s: %s for its %lu bytes", file->name,
                          os->sys_error(error), file->bytes);
        return error;
    }
    error = files_read(file, memory, &why);
    if (error < 0) {
        (void)os->mem_free(memory, file->bytes);
        (void)shell_error("%s: %s", file->name, why);
        return error;
    }
    loaded.memory = memory;
    loaded.data = memory;
    return 0;
}

static int load_file(const struct file *file)
{
    if (file->problem) {
        return shell_error("%s: %s", file->name, file->problem);
    }
    if (file->bytes == 0) {
        return shell_error("%s: the file is empty", file->name);
    }
    unload();
    if (file->data) {
        loaded.data = file->data;
    } else {
        int error = load_from_disk(file);
        if (error < 0) {
            return error;
        }
    }
    loaded.bytes = file->bytes;
    string_copy(loaded.name, file->name, sizeof(loaded.name));
    return 0;
}

static const char *place_text(enum file_place place)
{
    return place == ON_DISK ? "on a disk" : "in RAM";
}

// Why files_find() found nothing.
static int not_found(int error, const char *command, const char *text,
                     const char *place)
{
    u64 number;
    if (error != E_NODEV) {
        return shell_failed(command, error);
    }
    return args_parse(text, &number)
               ? shell_error("%s: no file '%s' %s", command, text, place)
               : shell_error("%s: no file number %s %s", command, text, place);
}

// List and ask. Null: there is nothing to choose from, or no answer; an error
// line was printed unless the answer was Ctrl-C.
static const char *ask_for_file(const char *command, enum file_place place)
{
    if (list_files(place) == 0) {
        (void)shell_error("%s: there are no files %s", command,
                          place_text(place));
        return 0;
    }
    const char *answer = shell_ask("Enter file number: ");
    if (answer && !*answer) {
        (void)shell_error("%s: no number was given", command);
        return 0;
    }
    return answer;
}

static int load(enum file_place place, int argc, char **argv)
{
    struct file file;
    const char *text = argc > 1 ? argv[1] : ask_for_file(argv[0], place);
    if (!text) {
        return E_ARG;
    }
    int error = files_find(place, text, &file);
    if (error == E_NODEV && place == ON_DISK &&
        files_find(IN_RAM, text, &file) >= 0) {
        return shell_error("load: no file '%s' on a disk; in RAM there is: "
                           "loadr %s",
                           text, text);
    }
    if (error < 0) {
        return not_found(error, argv[0], text, place_text(place));
    }
    error = load_file(&file);
    if (error >= 0) {
        print("Loaded %s, %lu bytes.\n",
              loaded.name[0] ? loaded.name : "a file without a name",
              loaded.bytes);
    }
    return error;
}

int command_load(int argc, char **argv)
{
    return load(ON_DISK, argc, argv);
}

int command_loadr(int argc, char **argv)
{
    return load(IN_RAM, argc, argv);
}

// ---- exec ----

static int is_elf(const void *data, u64 bytes)
{
    return bytes >= 4 && memcmp(data, "\177ELF", 4) == 0;
}

// argv[0] becomes the file's name.
static int execute(int argc, char **argv)
{
    u32 flags = is_elf(loaded.data, loaded.bytes) ? 0 : APP_FLAT;
    argv[0] = loaded.name;
    int status = os->app_run(loaded.data, loaded.bytes, flags, argc,
                             (const char *const *)argv);
    if (status > 0) {
        return shell_error("%s: exit status %d", loaded.name, status);
    }
    return status < 0 ? shell_failed(loaded.name, status) : 0;
}

int command_exec(int argc, char **argv)
{
    if (!loaded.data) {
        return shell_error("exec: nothing is loaded");
    }
    return execute(argc, argv);
}

int command_run(int argc, char **argv)
{
    struct file file;
    int error = files_find(ON_DISK, argv[1], &file);
    if (error < 0 && files_find(IN_RAM, argv[1], &file) < 0) {
        return not_found(error, "run", argv[1], "on a disk or in RAM");
    }
    error = load_file(&file);
    return error < 0 ? error : execute(argc - 1, argv + 1);
}
