// fuzz_bmfs.c - BMFS on a disk made of whatever the fuzzer says.
// SPDX-License-Identifier: MIT
//
// Input: a byte (sector size, place), then the first bytes of a disk of
// DISK_BLOCKS blocks; the rest of the disk reads as a pattern.
#include "../../apps/lib/bmfs.c"
#include <stdlib.h>

enum { DISK_BLOCKS = 40000 };

u64 string_copy(char *to, const char *from, u64 cap)
{
    u64 len = strnlen(from, cap - 1);
    memcpy(to, from, len);
    to[len] = 0;
    return len;
}

static const u8 *input;
static u64 input_len;
static u64 input_at; // byte of the disk where it lies

static u8 disk_byte(u64 at)
{
    return at >= input_at && at - input_at < input_len ? input[at - input_at]
                                                       : 0;
}

static i64 fuzz_read(u32 disk, u64 block, u64 n, void *buf)
{
    u8 *to = buf;
    if (disk != 7 || n == 0 || n > DISK_BLOCKS || block > DISK_BLOCKS - n ||
        (u64)buf % 4 != 0) {
        abort(); // the library asked for what is not there
    }
    for (u64 i = 0; i < n * INGOT_BLOCK; i++) {
        to[i] = disk_byte(block * INGOT_BLOCK + i);
    }
    return (i64)n;
}

static void fuzz_file(struct bmfs *fs, const struct bmfs_file *file)
{
    enum { PART = 9000 };
    u64 offsets[] = {0, 1, file->size / 2, file->size - 1, file->size};
    if (strnlen(file->name, BMFS_NAME) == BMFS_NAME) {
        abort();
    }
    for (u32 i = 0; i < 5; i++) {
        u8 *buf = malloc(PART);
        i64 got = bmfs_read(fs, file, offsets[i], buf, PART);
        if (file->problem ? got != E_FORMAT : got < 0) {
            abort();
        }
        free(buf);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, unsigned long len)
{
    static struct bmfs fs;
    struct bmfs_file file;
    if (len == 0) {
        return 0;
    }
    struct bmfs_disk disk = {fuzz_read, 7, data[0] & 1 ? 4096 : 512,
                             DISK_BLOCKS};
    input = data + 1;
    input_len = len - 1;
    input_at = data[0] & 2 ? BAREMETAL_AT : 0;
    if (bmfs_mount(&fs, &disk) < 0) {
        return 0;
    }
    int result;
    for (u32 i = 0; (result = bmfs_entry(&fs, i, &file)) >= 0; i++) {
        if (result == 1) {
            fuzz_file(&fs, &file);
            (void)!bmfs_find(&fs, file.name, &file);
        }
    }
    return 0;
}
