// symbols.c - the name nearest to an address, from an ELF image's symbol table.
// SPDX-License-Identifier: MIT
//
// System V ABI, chapter 4 (sections, symbol table). The image is as hostile as
// in elf.c; its program may have written over it meanwhile.
#include "symbols.h"
#include "../lib/string.h"
#include "cpu.h"
#include "elf.h"

enum { SECTION_SYMBOLS = 2, SECTION_BYTES = 64, MAX_SECTIONS = 1024 };
enum { SYMBOL_TYPE = 15, SYMBOL_LABEL = 0, SYMBOL_FUNCTION = 2 };

struct section_header {
    u32 name, type;
    u64 flags, virt, offset, bytes;
    u32 link, info;
    u64 align, entry_bytes;
};
_Static_assert(sizeof(struct section_header) == SECTION_BYTES, "Elf64_Shdr");

struct entry {
    u32 name;
    u8 info, other;
    u16 section;
    u64 value, bytes;
};
_Static_assert(sizeof(struct entry) == 24, "Elf64_Sym");

struct symbol_tables {
    const u8 *entries, *names;
    u64 n, names_bytes;
};

static int symbols_section(const u8 *image, u64 len, u32 index,
                           struct section_header *section)
{
    struct elf_header header;
    memcpy(&header, image, sizeof(header));
    u64 at = (u64)index * SECTION_BYTES;
    if (index >= header.n_section_headers || index >= MAX_SECTIONS ||
        header.section_header_bytes != SECTION_BYTES ||
        header.section_headers > len || at > len - header.section_headers ||
        SECTION_BYTES > len - header.section_headers - at) {
        return E_FORMAT;
    }
    memcpy(section, image + header.section_headers + at, sizeof(*section));
    return 0;
}

static int symbols_bytes(const u8 *image, u64 len,
                         const struct section_header *section, const u8 **bytes)
{
    if (section->offset > len || section->bytes > len - section->offset) {
        return E_FORMAT;
    }
    *bytes = image + section->offset;
    return 0;
}

static int symbols_read(const u8 *image, u64 len, struct symbol_tables *tables)
{
    struct section_header symbols, names;
    u32 i = 0;
    do {
        TRY(symbols_section(image, len, i++, &symbols));
    } while (symbols.type != SECTION_SYMBOLS);
    TRY(symbols_section(image, len, symbols.link, &names));
    TRY(symbols_bytes(image, len, &symbols, &tables->entries));
    TRY(symbols_bytes(image, len, &names, &tables->names));
    tables->n = symbols.bytes / sizeof(struct entry);
    tables->names_bytes = names.bytes;
    return 0;
}

// Nearer than the best so far? A function wins over a label at its place.
static int symbols_is_better(const struct entry *entry,
                             const struct entry *best, u64 address)
{
    u32 type = entry->info & SYMBOL_TYPE;
    if ((type != SYMBOL_FUNCTION && type != SYMBOL_LABEL) ||
        entry->section == 0 || entry->value > address || entry->name == 0) {
        return 0;
    }
    return entry->value > best->value || best->name == 0 ||
           (entry->value == best->value && type == SYMBOL_FUNCTION);
}

// Only what a console can show: a name may be any bytes.
static void symbols_copy_name(const struct symbol_tables *tables, u32 at,
                              struct symbol *symbol)
{
    u32 n = 0;
    while (n < sizeof(symbol->name) - 1 && at < tables->names_bytes &&
           tables->names[at] > ' ' && tables->names[at] < 0x7F) {
        symbol->name[n++] = (char)tables->names[at++];
    }
    symbol->name[n] = 0;
}

int symbols_find(const void *image, u64 len, u64 address, struct symbol *symbol)
{
    static const u8 magic[6] = {0x7F, 'E', 'L', 'F', 2, 1};
    struct symbol_tables tables;
    struct entry best = {0};
    if (len < sizeof(struct elf_header) || memcmp(image, magic, 6) != 0) {
        return E_FORMAT;
    }
    TRY(symbols_read(image, len, &tables));
    for (u64 i = 0; i < tables.n; i++) {
        struct entry entry;
        memcpy(&entry, tables.entries + i * sizeof(entry), sizeof(entry));
        if (symbols_is_better(&entry, &best, address)) {
            best = entry;
        }
    }
    symbols_copy_name(&tables, best.name, symbol);
    symbol->offset = address - best.value;
    return best.name == 0 || symbol->name[0] == 0 ? E_FORMAT : 0;
}
