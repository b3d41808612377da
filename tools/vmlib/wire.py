# wire.py - the other end of a NIC's cable.
# SPDX-License-Identifier: MIT
import socket
import time

SO_RCVBUFFORCE = 33
BACKLOG = 64 << 10  # bytes; the kernel takes 208 KiB before it drops
BURST = 16          # frames sent between two looks at the backlog
DEAF = 10           # seconds


class WireDeaf(Exception):
    """The NIC at the other end takes no frames."""


def hold_udp_port():
    """A socket on a UDP port that is given to nobody else while it is open,
    but to which one who knows it may bind: QEMU sets SO_REUSEADDR as well."""
    holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    holder.bind(("127.0.0.1", 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return holder


def port_of(udp):
    return udp.getsockname()[1]


class Wire:
    """The other end of a NIC's cable: one datagram is one frame."""

    def __init__(self, local=None, peer=None):
        self.holder = None if local else hold_udp_port()
        self.port = local or port_of(self.holder)  # where QEMU listens
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer = peer
        if peer is None:  # we are the other end
            for option in (socket.SO_RCVBUF, SO_RCVBUFFORCE):
                try:
                    self.socket.setsockopt(socket.SOL_SOCKET, option, 8 << 20)
                except OSError:
                    pass
            self.socket.bind(("127.0.0.1", 0))
            self.peer = port_of(self.socket)

    def taken(self):
        """QEMU has bound its port by now: nobody needs to hold it."""
        holder, self.holder = self.holder, None  # threads may send at once
        if holder:
            holder.close()

    def send(self, frame):
        """Put one frame (bytes) on the wire."""
        self.taken()
        self.socket.sendto(frame, ("127.0.0.1", self.port))

    def receive(self, timeout=5):
        """The next frame the guest sent, or None when none came in time."""
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(65536)
        except socket.timeout:
            return None

    def backlog(self):
        """(bytes that QEMU has not read yet, datagrams this host threw away
        because it read too slowly)."""
        self.taken()  # its own line there
        with open("/proc/net/udp", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[1].endswith(f":{self.port:04X}"):
                    return int(words[4].split(":")[1], 16), int(words[-1])
        return 0, 0

    def send_paced(self, frames, rate):
        """Send an iterable of frames at rate frames a second; returns how
        many were sent. Never ahead of the clock, in steps of about 1 ms, and
        slower when QEMU does not keep up: what the host drops in between
        never was on the guest's wire. WireDeaf: see wait_backlog."""
        start, sent = time.monotonic(), 0
        for frame in frames:
            ahead = sent / rate - (time.monotonic() - start)
            if ahead > 0.001:
                time.sleep(ahead)
            if sent % BURST == 0:
                self.wait_backlog()
            self.send(frame)
            sent += 1
        return sent

    def wait_backlog(self, timeout=DEAF):
        """Until QEMU has read most of what was sent. WireDeaf: it has read
        nothing for timeout seconds."""
        end, before = time.monotonic() + timeout, None
        while (now := self.backlog()[0]) > BACKLOG:
            if before is None or now < before:
                end = time.monotonic() + timeout
            elif time.monotonic() > end:
                raise WireDeaf(f"the NIC has read nothing for {timeout} s: "
                               f"{now} bytes wait for it")
            before = now
            time.sleep(0.0005)

    def drain(self):
        """Throw away what has arrived; returns how many frames."""
        count = 0
        while self.receive(timeout=0.01) is not None:
            count += 1
        return count

    def close(self):
        self.taken()
        self.socket.close()
