// files.c - the files programs come from: on every disk, and in RAM.
// SPDX-License-Identifier: MIT
#include "files.h"
#include "shell.h"

static struct bmfs file_system; // of the disk looked at last: too big for the
static u32 file_system_disk;    // stack, and one at a time is enough

static int files_mount(u32 index)
{
    struct disk_info info;
    int error = os->disk_info(index, &info);
    if (error < 0) {
        return error;
    }
    struct bmfs_disk disk = {os->disk_read, index, info.sector_bytes,
                             info.blocks};
    file_system_disk = index;
    return bmfs_mount(&file_system, &disk);
}

static void files_note_error(struct file_walk *walk, int error)
{
    if (error != E_NODEV && walk->error == 0) {
        walk->error = error;
        walk->error_disk = walk->disk;
    }
}

// Mount the next disk that has a file system. Returns 0 when there is none.
static int files_next_disk(struct file_walk *walk)
{
    struct disk_info info;
    for (; os->disk_info(walk->disk, &info) >= 0; walk->disk++) {
        int error = files_mount(walk->disk);
        if (error >= 0) {
            walk->slot = 0;
            walk->mounted = 1;
            return 1;
        }
        files_note_error(walk, error);
    }
    return 0;
}

static void files_describe(const struct file_walk *walk, struct file *file)
{
    string_copy(file->name, file->entry.name, sizeof(file->name));
    file->bytes = file->entry.size;
    file->problem = file->entry.problem;
    file->data = 0;
    file->disk = walk->disk;
}

static int files_next_on_disk(struct file_walk *walk, struct file *file)
{
    while (walk->mounted || files_next_disk(walk)) {
        int found = bmfs_entry(&file_system, walk->slot++, &file->entry);
        if (found > 0) {
            files_describe(walk, file);
            return 1;
        }
        if (found < 0) {
            walk->mounted = 0;
            walk->disk++;
        }
    }
    return 0;
}

static int files_next_in_ram(struct file_walk *walk, struct file *file)
{
    struct module_info info;
    if (os->app_module(walk->slot++, &info) < 0) {
        return 0;
    }
    string_copy(file->name, info.name, sizeof(file->name));
    file->bytes = info.len;
    file->data = info.data;
    file->problem = 0;
    return 1;
}

int files_next(struct file_walk *walk, struct file *file)
{
    int found = walk->place == ON_DISK ? files_next_on_disk(walk, file)
                                       : files_next_in_ram(walk, file);
    walk->number += found > 0;
    file->number = walk->number;
    return found;
}

int files_find_exact(enum file_place place, const char *name, struct file *file)
{
    struct file_walk walk = {.place = place};
    while (files_next(&walk, file)) {
        if (strcmp(file->name, name) == 0) {
            return 0;
        }
    }
    return walk.error < 0 ? walk.error : E_NODEV;
}

int files_find_name(enum file_place place, const char *name, struct file *file)
{
    char longer[80];
    int error = files_find_exact(place, name, file);
    u64 len = format(longer, sizeof(longer), "%s.app", name);
    if (error < 0 && len < sizeof(longer)) {
        return files_find_exact(place, longer, file);
    }
    return error;
}

int files_find(enum file_place place, const char *text, struct file *file)
{
    u64 number;
    struct file_walk walk = {.place = place};
    int error = files_find_name(place, text, file);
    if (error >= 0 || args_parse(text, &number)) {
        return error;
    }
    while (files_next(&walk, file)) {
        if (walk.number == number) {
            return 0;
        }
    }
    return error;
}

int files_read(const struct file *file, void *buf, const char **why)
{
    *why = file->problem;
    if (*why) {
        return E_FORMAT;
    }
    int error = file->disk == file_system_disk ? 0 : files_mount(file->disk);
    if (error < 0) {
        *why = os->sys_error(error);
        return error;
    }
    i64 got = bmfs_read(&file_system, &file->entry, 0, buf, file->bytes);
    if (got == (i64)file->bytes) {
        return 0;
    }
    *why = got < 0 ? file_system.why : "shorter than its directory entry says";
    return got < 0 ? (int)got : E_FORMAT;
}
