# figures.py - RESULT lines, medians, ratios: what a run's numbers say.
# SPDX-License-Identifier: MIT
import collections
import statistics

# What is compared. unit; better: which way is good; required: `make bench`
# fails when Ingot is behind.
Measure = collections.namedtuple("Measure", "name unit better required text")
HIGH, LOW = "higher", "lower"
LEAST = 0.9  # in the middle round: less than that is behind, not noise
MEASURES = [
    Measure("flood virtio", "frames/s", HIGH, True,
            "1,500-byte frames received under an unlimited flood: "
            "net_rx_burst and PACKET_RX_RING with poll()"),
    Measure("flood e1000", "frames/s", HIGH, True,
            "the same on e1000"),
    Measure("flood virtio, one at a time", "frames/s", HIGH, False,
            "the same, Ingot by net_rx"),
    Measure("flood e1000, one at a time", "frames/s", HIGH, False,
            "the same on e1000, Ingot by net_rx"),
    Measure("empty poll, inline", "ns", LOW, True,
            "the poll word, and the status word of the mapped ring"),
    Measure("empty poll, call", "ns", LOW, True,
            "net_rx, and recvfrom(MSG_DONTWAIT) on a packet socket"),
    Measure("call that does nothing", "ns", LOW, True,
            "sys_null, and getppid"),
    Measure("raytrace", "ms", LOW, False,
            "the same object file, 640 by 360, 1 ray a pixel"),
    Measure("boot", "s", LOW, True,
            "from QEMU's start to the first prompt"),
    Measure("start to join", "ns", LOW, True,
            "a function on the other core: cpu_start and cpu_wait, and "
            "pthread_create and pthread_join"),
    Measure("handoff, futex", "ns", LOW, False,
            "a word to the other core and back: Ingot spins, Linux sleeps"),
    Measure("handoff, spinning", "ns", LOW, False,
            "the same, both spin"),
]
BY_NAME = {measure.name: measure for measure in MEASURES}


def parse(text):
    """The RESULT lines in a console's text, as dictionaries."""
    return [dict(word.split("=", 1) for word in line.split()[1:]
                 if "=" in word)
            for line in text.splitlines() if line.startswith("RESULT ")]


class Figures:
    """Values by measure, system and round."""

    def __init__(self):
        self.values = collections.defaultdict(dict)

    def add(self, measure, system, number, value):
        self.values[measure, system][number] = float(value)

    def all(self, measure, system):
        return list(self.values[measure, system].values())

    def ratios(self, measure):
        """Ingot / Linux in each round that has both."""
        ours, theirs = (self.values[measure, system]
                        for system in ("ingot", "linux"))
        return [ours[i] / theirs[i] for i in sorted(ours)
                if theirs.get(i)]

    def advantage(self, measure):
        """How many times better Ingot is in the middle round, with the worst
        and the best round; None without numbers."""
        ratios = self.ratios(measure)
        if BY_NAME[measure].better == LOW:
            ratios = [1 / ratio for ratio in ratios if ratio]
        return (statistics.median(ratios), min(ratios), max(ratios)) \
            if ratios else None

    def behind(self, partly=False):
        """Required measures that Ingot lost; that nobody took, too, unless the
        run was to measure only a part."""
        found = []
        for measure in MEASURES:
            won = self.advantage(measure.name)
            lost = not partly if won is None else won[0] < LEAST
            if measure.required and lost:
                found.append(measure.name)
        return found
