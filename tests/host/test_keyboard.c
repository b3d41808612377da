// test_keyboard.c - keys become bytes: layouts, locks, PS/2 scan codes.
// SPDX-License-Identifier: MIT
#include "keyboard_rig.h"
#include "../../drivers/ps2_scancode.c"

static struct keyboard board;

static void strike(u8 key)
{
    keyboard_press(&board, key);
    keyboard_release(&board, key);
}

static void with(u8 modifier, u8 key)
{
    keyboard_press(&board, modifier);
    strike(key);
    keyboard_release(&board, modifier);
}

// Every key that has characters, in the order of the layouts' strings.
static void strike_all(u8 modifier)
{
    static const u8 ranges[][2] = {
        {4, 0x27}, {0x2D, 0x31}, {0x33, 0x38}, {0x64, 0x64}};
    if (modifier) {
        keyboard_press(&board, modifier);
    }
    for (u32 i = 0; i < 4; i++) {
        for (u32 key = ranges[i][0]; key <= ranges[i][1]; key++) {
            strike((u8)key);
        }
    }
    if (modifier) {
        keyboard_release(&board, modifier);
    }
}

static void test_us(void)
{
    use_layout("");
    strike_all(0);
    CHECK(was_typed("abcdefghijklmnopqrstuvwxyz1234567890-=[]\\;'`,./\\"));
    strike_all(KEY_RIGHT_SHIFT);
    CHECK(was_typed("ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()_+{}|:\"~<>?|"));
    strike_all(KEY_ALTGR);
    CHECK(was_typed(""));
}

static void test_german(void)
{
    use_layout("de");
    strike_all(0);
    CHECK(was_typed("abcdefghijklmnopqrstuvwxzy1234567890ß´ü+#öä^,.-<"));
    strike_all(KEY_SHIFT);
    CHECK(was_typed("ABCDEFGHIJKLMNOPQRSTUVWXZY!\"§$%&/()=?`Ü*'ÖÄ°;:_>"));
    strike_all(KEY_ALTGR);
    CHECK(was_typed("€µ@²³{[]}\\~|"));
    strike(KEY_HASH);
    CHECK(was_typed("#"));
    strike(KEY_CAPS_LOCK);
    strike_all(0);
    CHECK(was_typed("ABCDEFGHIJKLMNOPQRSTUVWXZY1234567890ß´Ü+#ÖÄ^,.-<"));
}

static void test_french(void)
{
    use_layout("fr");
    strike_all(0);
    CHECK(was_typed("qbcdefghijkl,noparstuvzxyw&é\"'(-è_çà)=^$*mù²;:!<"));
    strike_all(KEY_SHIFT);
    CHECK(was_typed("QBCDEFGHIJKL?NOPARSTUVZXYW1234567890°+¨£µM%./§>"));
    strike_all(KEY_ALTGR);
    CHECK(was_typed("€~#{[|`\\^@]}¤"));
    strike(KEY_CAPS_LOCK);
    strike(KEY_1);
    strike(KEY_A);
    CHECK(was_typed("&Q"));
}

static void test_every_layout_is_whole(void)
{
    for (u32 i = 0; i < array_size(keymaps); i++) {
        const u16 *rows[] = {keymaps[i].plain, keymaps[i].shift,
                             keymaps[i].altgr};
        for (u32 k = 0; k < 3; k++) {
            u32 n = 0;
            while (rows[k] && rows[k][n]) {
                n++;
            }
            CHECK(rows[k] == 0 || n == KEYMAP_KEYS);
        }
    }
    use_layout("xx");
    CHECK(__builtin_strstr(last_log, "keyboard=xx") != 0);
    strike(KEY_A);
    CHECK(was_typed("a"));
}

static void test_locks(void)
{
    use_layout("");
    strike(KEY_PAD_1 + 6);
    CHECK(was_typed("7"));
    with(KEY_SHIFT, KEY_PAD_1 + 6);
    CHECK(was_typed("\033[H"));
    strike(KEY_NUM_LOCK);
    CHECK_EQ(keyboard_leds(), 0);
    strike(KEY_PAD_1 + 6);
    strike(KEY_PAD_POINT);
    CHECK(was_typed("\033[H\033[3~"));
    strike(KEY_PAD_1 + 4); // 5: in the middle, no key
    CHECK(was_typed(""));
    strike(KEY_CAPS_LOCK);
    strike(KEY_A);
    with(KEY_SHIFT, KEY_A);
    strike(KEY_1);
    CHECK(was_typed("Aa1"));
    CHECK_EQ(keyboard_leds(), LED_CAPS);
}

static void test_modifiers(void)
{
    use_layout("");
    with(KEY_CTRL, KEY_A + 2);
    with(KEY_RIGHT_CTRL, KEY_A);
    CHECK(was_typed("\003\001"));
    with(KEY_CTRL, KEY_1);
    with(KEY_ALT, KEY_A);
    with(KEY_GUI, KEY_A);
    with(KEY_ALT, KEY_UP);
    CHECK(was_typed(""));
    with(KEY_SHIFT, KEY_TAB);
    CHECK(was_typed("\033[Z"));
    keyboard_press(&board, KEY_CTRL);
    keyboard_press(&board, KEY_ALT);
    strike(KEY_DELETE);
    keyboard_release(&board, KEY_CTRL);
    keyboard_release(&board, KEY_ALT);
    CHECK_EQ(reboots, 1);
    was_typed("");
    strike(KEY_A);
    CHECK(was_typed("a"));
}

static void test_keys_without_a_character(void)
{
    static const u8 keys[] = {0,         1,    2,    3,    KEY_PRINT,
                              KEY_PAUSE, 0x65, 0x66, 0x68, 0x75,
                              0x87,      0xE8, 0xFF, 0xA5};
    use_layout("");
    for (u32 i = 0; i < sizeof(keys); i++) {
        strike(keys[i]);
    }
    CHECK(was_typed(""));
}

static void test_full_ring(void)
{
    use_layout("de");
    typed_room = 2;
    strike(KEY_UP);
    CHECK(was_typed(""));
    strike(0x33);
    CHECK(was_typed("ö"));
    typed_room = 0;
    strike(KEY_A);
    CHECK(was_typed(""));
    typed_room = sizeof(typed) - 1;
}

// ---- scan codes ----
static void feed(u8 set, const u8 *bytes, u32 n)
{
    struct ps2_decoder decoder = {.set = set};
    struct keyboard one = {0};
    for (u32 i = 0; i < n; i++) {
        u32 key = ps2_decode(&decoder, bytes[i]);
        if (key & PS2_RELEASED) {
            keyboard_release(&one, (u8)key);
        } else if (key) {
            keyboard_press(&one, (u8)key);
        }
    }
    CHECK_EQ(one.modifiers, 0);
    CHECK_EQ(decoder.skip + decoder.extended + decoder.released, 0);
}
#define FEED(set, ...)                                                         \
    feed(set, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

static void test_set_1(void)
{
    use_layout("");
    FEED(1, 0x1E, 0x9E, 0x2A, 0x1E, 0x9E, 0xAA, 0x36, 0x02, 0x82, 0xB6);
    CHECK(was_typed("aA!"));
    FEED(1, 0x1D, 0x2E, 0xAE, 0x9D, 0xE0, 0x1D, 0x2E, 0xAE, 0xE0, 0x9D);
    CHECK(was_typed("\003\003"));
    // Up, with the shifts around it that Num Lock makes; keypad 8.
    FEED(1, 0xE0, 0x2A, 0xE0, 0x48, 0xE0, 0xC8, 0xE0, 0xAA, 0x48, 0xC8);
    CHECK(was_typed("\033[A8"));
    FEED(1, 0xE1, 0x1D, 0x45, 0xE1, 0x9D, 0xC5, 0x1E, 0x9E); // Pause, a
    CHECK(was_typed("a"));
    FEED(1, 0xE0, 0x2A, 0xE0, 0x37, 0xE0, 0xB7, 0xE0, 0xAA, 0x54, 0xD4);
    CHECK(was_typed(""));
    FEED(1, 0x1E, 0x1E, 0x1E, 0x9E, 0x56, 0xD6, 0xE0, 0x35, 0xE0, 0xB5);
    CHECK(was_typed("aaa\\/"));
    FEED(1, 0xFF, 0x00, 0x7F, 0xE0, 0x00, 0x6D, 0xED);
    CHECK(was_typed(""));
    CHECK_EQ(keyboard_leds(), LED_NUM);
}

static void test_set_2(void)
{
    use_layout("");
    FEED(2, 0x1C, 0xF0, 0x1C, 0x12, 0x1C, 0xF0, 0x1C, 0xF0, 0x12);
    CHECK(was_typed("aA"));
    FEED(2, 0x14, 0x21, 0xF0, 0x21, 0xF0, 0x14, 0xE0, 0x14, 0x21, 0xF0, 0x21,
         0xE0, 0xF0, 0x14);
    CHECK(was_typed("\003\003"));
    FEED(2, 0xE0, 0x12, 0xE0, 0x75, 0xE0, 0xF0, 0x75, 0xE0, 0xF0, 0x12, 0x75,
         0xF0, 0x75);
    CHECK(was_typed("\033[A8"));
    FEED(2, 0xE1, 0x14, 0x77, 0xE1, 0xF0, 0x14, 0xF0, 0x77, 0x1C, 0xF0, 0x1C);
    CHECK(was_typed("a"));
    FEED(2, 0xE0, 0x12, 0xE0, 0x7C, 0xE0, 0xF0, 0x7C, 0xE0, 0xF0, 0x12, 0x84,
         0xF0, 0x84);
    CHECK(was_typed(""));
    FEED(2, 0x83, 0xF0, 0x83, 0xE0, 0x71, 0xE0, 0xF0, 0x71); // F7, delete
    CHECK(was_typed("\033[18~\033[3~"));
    FEED(2, 0x00, 0xFF, 0xAA, 0xFC, 0xF0, 0xFF, 0x7F);
    CHECK(was_typed(""));
}

// Both sets mean the same key with every code.
static void test_sets_agree(void)
{
    for (u32 code = 1; code < sizeof(set2_to_set1); code++) {
        for (u32 extended = 0; extended < 2; extended++) {
            struct ps2_decoder one = {.set = 1, .extended = (u8)extended};
            struct ps2_decoder two = {.set = 2, .extended = (u8)extended};
            u8 translated = set2_to_set1[code];
            CHECK_EQ(ps2_decode(&two, (u8)code),
                     translated ? ps2_decode(&one, translated) : 0);
        }
    }
}

int main(void)
{
    RUN(test_us);
    RUN(test_german);
    RUN(test_french);
    RUN(test_every_layout_is_whole);
    RUN(test_locks);
    RUN(test_modifiers);
    RUN(test_keys_without_a_character);
    RUN(test_full_ring);
    RUN(test_set_1);
    RUN(test_set_2);
    RUN(test_sets_agree);
    return TEST_RESULT();
}
