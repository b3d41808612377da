// files.h - the files programs come from: on every disk, and in RAM.
// SPDX-License-Identifier: MIT
#pragma once
#include "../lib/bmfs.h"

enum file_place { ON_DISK, IN_RAM }; // BMFS files, boot modules

struct file {
    char name[64];
    u64 bytes;
    const void *data;       // IN_RAM: its bytes
    const char *problem;    // null, or why it cannot be read
    u32 number;             // from 1, as ls shows it
    u32 disk;               // ON_DISK
    struct bmfs_file entry; // ON_DISK
};

// One pass over all files of a place:
//     struct file_walk walk = {.place = ON_DISK};
//     while (files_next(&walk, &file)) ...
struct file_walk {
    enum file_place place;
    u32 disk, slot; // next to look at
    u32 number;     // of the latest file
    u8 mounted;
    int error;      // the first disk error met, 0 none ..
    u32 error_disk; // .. on this disk
};
int files_next(struct file_walk *walk, struct file *file);

// Finding a file: 0; E_NODEV: there is none; or the error of a disk that could
// not be searched. By exactly this name; by NAME or NAME.app; or also by
// number.
int must_check files_find_exact(enum file_place place, const char *name,
                                struct file *file);
int must_check files_find_name(enum file_place place, const char *name,
                               struct file *file);
int must_check files_find(enum file_place place, const char *text,
                          struct file *file);
// Read a file of a disk whole into buf (file->bytes). 0, or an error with one
// line about it in *why.
int must_check files_read(const struct file *file, void *buf, const char **why);
