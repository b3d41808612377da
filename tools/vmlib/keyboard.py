# keyboard.py - keys for a machine's keyboard, through QMP.
# SPDX-License-Identifier: MIT
"""Names are QEMU's key codes (QKeyCode): a, 1, ret, kp_7, shift, alt_r."""

PLAIN = {
    " ": "spc", "\n": "ret", "\r": "ret", "\t": "tab", "\b": "backspace",
    "-": "minus", "=": "equal", "[": "bracket_left", "]": "bracket_right",
    "\\": "backslash", ";": "semicolon", "'": "apostrophe",
    "`": "grave_accent", ",": "comma", ".": "dot", "/": "slash",
}
SHIFTED = dict(zip('!@#$%^&*()_+{}|:"~<>?', "1234567890-=[]\\;'`,./"))


def chord(char):
    """The keys that type a character on a US keyboard, in pressing order."""
    if char in SHIFTED:
        return ["shift", *chord(SHIFTED[char])]
    if char.isupper():
        return ["shift", char.lower()]
    return [PLAIN.get(char, char)]


def event(key, down):
    return {"type": "key",
            "data": {"down": down, "key": {"type": "qcode", "data": key}}}


def strokes(*keys):
    """Events that press keys in order and let go in reverse."""
    return [event(key, True) for key in keys] + \
        [event(key, False) for key in reversed(keys)]
