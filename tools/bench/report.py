# report.py - the published page: one run's numbers, all of them.
# SPDX-License-Identifier: MIT
import statistics

from figures import MEASURES

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
PAGE = "docs/benchmarks.md"


def number(value):
    """Three digits that count, thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values):
    if not values:
        return "-"
    return f"{number(statistics.median(values))} " \
        f"({number(min(values))}-{number(max(values))})"


def verdict(won):
    if won is None:
        return "not measured"
    middle, low, high = won
    word = "ahead" if low >= 1 else "behind" if high < 1 else "even"
    return f"{number(middle)} ({number(low)}-{number(high)}) {word}"


def row(figures, measure):
    return f"| {measure.name}, {measure.unit} " \
        f"| {spread(figures.all(measure.name, 'ingot'))} " \
        f"| {spread(figures.all(measure.name, 'linux'))} " \
        f"| {verdict(figures.advantage(measure.name))} |"


def page(figures, facts):
    """facts: [(what, text)]"""
    lines = [BEGIN, "", "Written by `make bench`; not edited.", ""]
    lines += [f"- {what}: {text}" for what, text in facts]
    lines += ["", "Median (lowest-highest). The last column is how many times "
              "better Ingot is, round by round; below 1 it loses.", "",
              "| | Ingot | Linux | Ingot better by |", "|---|---|---|---|"]
    lines += [row(figures, measure) for measure in MEASURES]
    lines += [""]
    lines += [f"- {measure.name}: {measure.text}." for measure in MEASURES]
    return "\n".join([*lines, "", END])


def publish(text, path=PAGE):
    """Put text between the marks of a page, or at its end."""
    with open(path, encoding="utf-8") as file:
        old = file.read()
    head, mark, rest = old.partition(BEGIN)
    tail = rest.partition(END)[2] if mark else "\n"
    if not mark:
        head += "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + text + tail)
