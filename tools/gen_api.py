#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""gen_api.py - writes what is derived from the lists in include/ingot.h.

  tools/gen_api.py          write include/ingot.inc and docs/api.md
  tools/gen_api.py --check  exit 1, naming the files, when they are out of date

The C preprocessor expands the lists and the C compiler computes the offsets, so
what NASM programs see cannot differ from what C programs see.
"""
import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# BareMetal's entries in table order, and the codes of b_system: names and
# numbers that programs built for BareMetal OS use.
BAREMETAL_ENTRIES = [
    ("b_input", "OUT AL = next key, 0 when there is none; Enter is 0x1C, "
                "backspace 0x0E; carry is set when there was one"),
    ("b_output", "IN RSI = text, RCX = bytes"),
    ("b_net_tx", "IN RSI = frame, RCX = bytes, RDX = interface"),
    ("b_net_rx", "IN RDX = interface; OUT RCX = bytes (0: none), "
                 "RDI = frame, in the ring"),
    ("b_nvs_read", "IN RAX = first 4 KiB sector, RCX = sectors, RDX = drive, "
                   "RDI = memory; OUT RCX = sectors read"),
    ("b_nvs_write", "IN RAX = first 4 KiB sector, RCX = sectors, RDX = drive, "
                    "RSI = memory; OUT RCX = sectors written"),
    ("b_system", "IN RCX = function, RAX, RDX = its arguments; "
                 "OUT RAX = result"),
    ("b_user", "does nothing"),
]
BAREMETAL_CODES = [
    ("TIMECOUNTER", 0x00, "nanoseconds since start"),
    ("FREE_MEMORY", 0x01, "MiB a flat program gets"),
    ("SMP_ID", 0x10, "APIC id of this core"),
    ("SMP_NUMCORES", 0x11, "cores started"),
    ("TSC", 0x1F, "time stamp counter"),
    ("SCREEN_LFB_GET", 0x20, "address of the frame buffer, 0: there is none; "
                             "console text stays off it from then on"),
    ("SCREEN_X_GET", 0x21, "its width in pixels"),
    ("SCREEN_Y_GET", 0x22, "its height"),
    ("SCREEN_PPSL_GET", 0x23, "pixels from one row to the next"),
    ("SCREEN_BPP_GET", 0x24, "bits of a pixel: 24 or 32"),
    ("MAC_GET", 0x30, "MAC of interface RDX in bits 0 to 47, first byte on "
                      "top; 0 when there is none"),
    ("BUS_READ", 0x50, "PCI register RDX: bus in bits 24-31, device 19-23, "
                       "function 16-18, number of the 32-bit register 0-15"),
    ("BUS_WRITE", 0x51, "write EAX to PCI register RDX"),
    ("STDOUT_SET", 0x52, "ignored: text goes to every console"),
    ("STDOUT_GET", 0x53, "ignored"),
    ("CALLBACK_TIMER", 0x60, "ignored: no timer runs"),
    ("CALLBACK_NETWORK", 0x61, "ignored: receive polls"),
    ("CALLBACK_KEYBOARD", 0x62, "ignored"),
    ("CALLBACK_MOUSE", 0x63, "ignored"),
    ("DUMP_MEM", 0x70, "print RDX bytes at RAX in hex"),
    ("DUMP_RAX", 0x71, "print RAX in hex"),
    ("DELAY", 0x72, "wait RAX microseconds"),
    ("REBOOT", 0x7E, "reset the machine"),
    ("SHUTDOWN", 0x7F, "power off"),
]

FIXED = ["INGOT_TABLE", "INGOT_BAREMETAL_TABLE", "INGOT_WINDOW",
         "INGOT_VERSION", "INGOT_BLOCK"]

GROUPS = {
    "console": "Console",
    "net": "Network",
    "disk": "Disk",
    "memory": "Memory",
    "time": "Time",
    "cpu": "Processor",
    "hook": "Hooks",
    "screen": "Screen",
    "pci": "PCI",
    "app": "Programs",
    "system": "System",
}


class ApiError(Exception):
    """The header cannot be understood."""


def run_compiler(cc, flags, source):
    """Compile source (text), return what the compiler writes."""
    command = [*cc.split(), *flags, "-std=gnu11", "-DINGOT_KERNEL", "-x", "c",
               "-", "-o", "-"]
    done = subprocess.run(command, input=source, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise ApiError(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


def expand_lists(cc, header):
    """The two X-macro lists as (name, value, text) and (group, result, name,
    parameters, text)."""
    source = f'''#include "{header}"
#define GEN_ERR(name, value, text) @@ERR [#name, #value, text]
#define GEN_CALL(group, result, name, parameters, text) \\
    @@CALL [#group, #result, #name, #parameters, text]
'''
    # "#name" is only an operator inside a function-like macro's body, which
    # is where it stands above.
    source += "INGOT_ERRORS(GEN_ERR)\nINGOT_CALLS(GEN_CALL)\n"
    text = " ".join(run_compiler(cc, ["-E", "-P"], source).split("\n"))
    found = {"ERR": [], "CALL": []}
    for kind, row in re.findall(r'@@(ERR|CALL) (\[(?:"(?:\\.|[^"\\])*"|[^]"])*\])',
                                text):
        # Neighbouring string literals are one text, as in C.
        row = re.sub(r'"\s+"', "", row)
        found[kind].append(tuple(json.loads(row)))
    if not found["ERR"] or not found["CALL"]:
        raise ApiError(f"{header}: no INGOT_ERRORS or no INGOT_CALLS list")
    return found["ERR"], found["CALL"]


def strip_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def find_structs(text):
    """[(name, source text, [member, ...])] in the order of the header."""
    structs = []
    for match in re.finditer(r"^struct (\w+) \{.*?^\};", text, re.M | re.S):
        name, source = match.group(1), match.group(0)
        if name == "ingot":
            continue
        body = strip_comments(source).split("{", 1)[1].rsplit("}", 1)[0]
        members = []
        for line in body.split(";"):
            for part in line.split(","):
                found = re.search(r"(\w+)\s*(\[[^]]*\])?\s*$", part.strip())
                if found:
                    members.append(found.group(1))
        structs.append((name, source, members))
    return structs


def find_enums(text):
    """Names of the constants in the enums, in order: all but the errors'."""
    names = []
    for body in re.findall(r"^enum (?:net_setting )?\{(.*?)\};", strip_comments(text),
                           re.M | re.S):
        names += [part.split("=")[0].strip() for part in body.split(",")
                  if part.strip()]
    return names


def compute_values(cc, header, expressions):
    """Let the compiler evaluate constant expressions: its assembler output
    carries them."""
    lines = [f'#include "{header}"', "void gen(void);", "void gen(void)", "{"]
    for number, expression in enumerate(expressions):
        lines.append(f'    __asm__ volatile(".ascii \\"@@VALUE {number} %0\\"" '
                     f': : "i"((long)({expression})));')
    lines.append("}\n")
    output = run_compiler(cc, ["-S", "-O1"], "\n".join(lines))
    values = dict(re.findall(r"@@VALUE (\d+) \$(-?\d+)", output))
    return [int(values[str(n)]) for n in range(len(expressions))]


class Api:
    """Everything the generated files are written from."""

    def __init__(self, cc, header):
        with open(header, encoding="utf-8") as file:
            self.text = file.read()
        self.errors, calls = expand_lists(cc, header)
        self.structs = find_structs(self.text)
        wanted = [f"INGOT_TABLE + __builtin_offsetof(struct ingot, {call[2]})"
                  for call in calls]
        members = [(name, member) for name, _, names in self.structs
                   for member in names]
        wanted += [f"__builtin_offsetof(struct {name}, {member})"
                   for name, member in members]
        wanted += [f"sizeof(struct {name})" for name, _, _ in self.structs]
        enums = find_enums(self.text)
        wanted += enums + FIXED
        values = iter(compute_values(cc, header, wanted))
        self.calls = [(*call, next(values)) for call in calls]
        self.members = [(*member, next(values)) for member in members]
        self.sizes = {name: next(values) for name, _, _ in self.structs}
        self.constants = [(name, next(values)) for name in enums]
        # Addresses: 64 bits without a sign, as NASM's equates are.
        self.fixed = {name: next(values) & (1 << 64) - 1 for name in FIXED}


def inc_text(api):
    out = ["; ingot.inc - Ingot's calls, errors and structs for NASM programs.",
           "; SPDX-License-Identifier: MIT",
           "; Written by tools/gen_api.py from include/ingot.h: change that.",
           ";",
           "; A call goes through its table entry, System V AMD64 convention:",
           ";     mov edi, 0",
           ";     lea rsi, [rel frame]",
           ";     call [abs INGOT_NET_RX]",
           "%ifndef INGOT_INC", "%define INGOT_INC", ""]
    for name, value in api.fixed.items():
        out.append(f"{name:<24} equ 0x{value:X}")
    out += ["", "; The calls: addresses of table entries."]
    for _, result, name, parameters, _, address in api.calls:
        equate = f"INGOT_{name.upper()}"
        out.append(f"{equate:<24} equ 0x{address:X} "
                   f"; {prototype(result, name, parameters)}")
    out += ["", "; Errors."]
    for name, value, text in api.errors:
        out.append(f"{name:<24} equ {value} ; {text}")
    out += ["", "; Flags and limits."]
    for name, value in api.constants:
        out.append(f"{name:<24} equ {value}")
    out += ["", "; Structs: offsets of members, and sizes."]
    for name, _, _ in api.structs:
        for owner, member, offset in api.members:
            if owner == name:
                out.append(f"{name + '_' + member:<24} equ {offset}")
        out.append(f"{name + '_size':<24} equ {api.sizes[name]}")
    out += baremetal_inc(api) + ["", "%endif"]
    return "\n".join(out) + "\n"


def baremetal_inc(api):
    out = ["", "; BareMetal's entries: call [abs b_output]. Every register that",
           "; is not named as OUT is preserved."]
    base = api.fixed["INGOT_BAREMETAL_TABLE"]
    for number, (name, text) in enumerate(BAREMETAL_ENTRIES):
        out.append(f"{name:<24} equ 0x{base + 8 * number:X} ; {text}")
    out += ["", "; What b_system does, by RCX."]
    for name, code, text in BAREMETAL_CODES:
        out.append(f"{name:<24} equ 0x{code:02X} ; {text}")
    return out


def prototype(result, name, parameters):
    gap = "" if result.endswith("*") else " "
    return f"{result}{gap}{name}{parameters}"


def doc_head(api):
    return f"""# The calls of Ingot

<!-- Written by tools/gen_api.py from include/ingot.h: change that. -->

A program includes `ingot.h` and nothing else of Ingot, and links nothing: every
call is one indirect call through a table at a fixed address, which no later
version moves. In C: `os->net_rx(0, &frame)`. In assembly, with `ingot.inc`:
`call [abs INGOT_NET_RX]`.

- Convention: System V AMD64. Arguments in RDI, RSI, RDX, RCX, R8; result in
  RAX; RBX, RBP, R12 to R15 survive; the stack is aligned to 16 bytes before the
  call, the direction flag is clear. No call touches a vector register.
- A call that returns `int` or `i64` returns a number >= 0, or one of the
  negative errors below. After an error nothing has been written to the
  program's memory, unless the call says otherwise.
- Every argument is checked. A pointer that faults when the call touches it ends
  the program with a report, as if the program had touched it itself.
- The table starts at 0x{api.fixed['INGOT_TABLE']:X} with `u32 version`
  ({api.fixed['INGOT_VERSION']}) and `u32 count` (calls that follow). It only
  grows at its end: a program that needs a call checks `count` first.
- Disk blocks are {api.fixed['INGOT_BLOCK']} bytes. NICs, disks, modules and PCI
  functions are numbered from 0.
"""


def doc_table(api):
    out = ["## All calls", "", "| address | call | group |", "|---|---|---|"]
    for group, _, name, _, _, address in api.calls:
        out.append(f"| 0x{address:X} | [`{name}`](#{name}) | {group} |")
    out += ["", "## Errors", "", "| name | value | text |", "|---|---|---|"]
    out += [f"| `{name}` | {value} | {text} |"
            for name, value, text in api.errors]
    return "\n".join(out) + "\n"


def errors_of(api, name):
    """The errors a call's text names, and those of "Errors as OTHER"."""
    text = next(call[4] for call in api.calls if call[2] == name)
    errors = re.findall(r"\bE_[A-Z]+\b", text)
    for other in re.findall(r"\b[Ee]rrors as (\w+)", text):
        errors += errors_of(api, other)
    return list(dict.fromkeys(errors))


def doc_groups(api):
    order = list(dict.fromkeys(call[0] for call in api.calls))
    table = api.fixed["INGOT_TABLE"]
    out = []
    for group in order:
        out += [f"## {GROUPS.get(group, group)}", ""]
        for owner, result, name, parameters, text, address in api.calls:
            if owner != group:
                continue
            errors = errors_of(api, name)
            out += [f"### {name}", "", "```c",
                    f"{prototype(result, name, parameters)};", "```", "", text,
                    "", f"Entry 0x{address:X} (table + {address - table}). "
                    + (f"Errors: {', '.join(f'`{e}`' for e in errors)}."
                       if errors else "No errors."), ""]
    return "\n".join(out)


def doc_structs(api):
    out = ["## Structs", "",
           "Offsets for assembly are in `ingot.inc`: `net_frame_len`.", ""]
    for name, source, _ in api.structs:
        out += [f"### struct {name}", "", f"{api.sizes[name]} bytes.", "",
                "```c", source, "```", ""]
    out += ["## Flags and limits", "", "| name | value |", "|---|---|"]
    out += [f"| `{name}` | {value} |" for name, value in api.constants]
    return "\n".join(out) + "\n"


def doc_baremetal(api):
    base = api.fixed["INGOT_BAREMETAL_TABLE"]
    out = ["## BareMetal's entries", "",
           "Programs built for BareMetal OS run unmodified: they are loaded flat",
           f"at 0x{api.fixed['INGOT_WINDOW']:X} and call through eight pointers.",
           "All registers are preserved except those named OUT, and the flags.",
           "", "| address | entry | registers |", "|---|---|---|"]
    for number, (name, text) in enumerate(BAREMETAL_ENTRIES):
        out.append(f"| 0x{base + 8 * number:X} | `{name}` | {text} |")
    out += ["", "`b_system` does, by RCX (any other number does nothing and "
            "leaves RAX):", "", "| code | name | RAX afterwards, or effect |",
            "|---|---|---|"]
    out += [f"| 0x{code:02X} | `{name}` | {text} |"
            for name, code, text in BAREMETAL_CODES]
    return "\n".join(out) + "\n"


def doc_text(api):
    return "\n".join([doc_head(api), doc_table(api), doc_groups(api),
                      doc_structs(api), doc_baremetal(api)])


def is_current(path, text):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() == text
    except FileNotFoundError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail when a file is out of date")
    parser.add_argument("--root", default=ROOT, help="the source tree")
    arguments = parser.parse_args()
    try:
        api = Api(os.environ.get("CC") or "gcc",
                  os.path.join(arguments.root, "include", "ingot.h"))
    except (ApiError, OSError) as error:
        print(f"gen_api: {error}", file=sys.stderr)
        return 1
    stale = 0
    for path, text in (("include/ingot.inc", inc_text(api)),
                       ("docs/api.md", doc_text(api))):
        full = os.path.join(arguments.root, path)
        if is_current(full, text):
            continue
        if arguments.check:
            print(f"{path} is out of date: run tools/gen_api.py")
            stale = 1
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"wrote {path}")
    return stale


if __name__ == "__main__":
    sys.exit(main())
