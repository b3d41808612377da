// test_nic.c - the network calls above a driver that only counts.
// SPDX-License-Identifier: MIT
#include "../../lib/string_copy.c"
#include "../../kernel/nic.c"
#undef LOG_TAG
#include "../../kernel/nic_set.c"
#include "clock_fake.h"
#include "test.h"

static u32 calls, asked, recovered;
static int answer;

static int count_rx(struct nic *nic, struct net_frame *frames, u32 n)
{
    (void)nic, (void)frames;
    calls++;
    asked = n;
    return answer;
}

static int count_tx(struct nic *nic, const struct net_frame *frames, u32 n)
{
    (void)nic;
    calls++;
    asked = frames[0].len;
    return (int)n;
}

static void count_info(struct nic *nic, struct net_info *info)
{
    calls++;
    info->link = 1;
    info->rx_ring = 99;
    nic->rx_missed = 5;
}

static void count_recover(struct nic *nic)
{
    recovered |= 1u << nic->index;
}

static const struct nic_ops counting = {.rx = count_rx,
                                        .tx = count_tx,
                                        .info = count_info,
                                        .recover = count_recover};
static const struct nic_ops without_recover = {
    .rx = count_rx, .tx = count_tx, .info = count_info};

static const struct pci_device slot = {.bus = 3, .device = 4};
static struct nic nics[NET_MAX_NICS + 1];
static u32 word;

void pci_name(const struct pci_device *device, char *text)
{
    snprintf(text, 16, "%02x:%02x.%x", device->bus, device->device,
             device->function);
}

void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}

void app_call_whole(int on)
{
    (void)on;
}

const char *sys_error(int error)
{
    (void)error;
    return "";
}

static void add(u32 n)
{
    for (u32 i = 0; i < n; i++) {
        struct nic *nic = &nics[nic_count()];
        *nic = (struct nic){.ops = &counting,
                            .pci = &slot,
                            .driver = "count",
                            .max_frame = 1514,
                            .max_burst = 128,
                            .mac = {1, 2, 3, 4, 5, 6}};
        CHECK_EQ(nic_add(nic), 0);
        nic_set_poll(nic, &word, 0xFFFF0000, 7u << 16);
    }
    calls = 0;
}

static void no_such_nic(void)
{
    struct net_frame frame = {0};
    struct net_info info;
    const u32 none[] = {0, 1, 15, 16, 17, 0x80000000, ~0u};
    for (u32 i = 0; i < array_size(none); i++) {
        CHECK_EQ(net_rx(none[i], &frame), E_NODEV);
        CHECK_EQ(net_rx_burst(none[i], &frame, 1), E_NODEV);
        CHECK_EQ(net_tx(none[i], &frame, 60), E_NODEV);
        CHECK_EQ(net_tx_burst(none[i], &frame, 1), E_NODEV);
        CHECK_EQ(net_info(none[i], &info), E_NODEV);
        CHECK(net_poll(none[i]) == 0);
        CHECK(nic_get(none[i]) == 0);
    }
}

// Empty is seen without the driver; any other word goes to it.
static void empty_is_the_word(void)
{
    struct net_frame frame;
    add(1);
    answer = 1;
    word = 7u << 16 | 0x1234; // the low half is somebody else's
    CHECK_EQ(net_rx(0, &frame), 0);
    CHECK_EQ(net_rx_burst(0, &frame, 32), 0);
    CHECK_EQ(calls, 0);
    word = 8u << 16;
    CHECK_EQ(net_rx(0, &frame), 1);
    CHECK_EQ(asked, 1);
    CHECK_EQ(net_rx_burst(0, &frame, 32), 1);
    CHECK_EQ(asked, 32);
    CHECK_EQ(calls, 2);
    const struct net_poll *poll = net_poll(0);
    CHECK(poll->word == &word && poll->mask == 0xFFFF0000);
    CHECK_EQ(poll->idle, 7u << 16);
    nic_set_idle(&nics[0], 8u << 16);
    CHECK_EQ(poll->idle, 8u << 16);
    CHECK_EQ(net_rx(0, &frame), 0);
    nic_set_never_idle(&nics[0]);
    CHECK((*poll->word & poll->mask) != poll->idle);
    CHECK_EQ(net_rx(0, &frame), 1);
}

static void bursts_are_clamped(void)
{
    struct net_frame frame;
    word = 0;
    nic_set_poll(&nics[0], &word, 0xFFFF0000, 7u << 16);
    CHECK_EQ(net_rx_burst(0, &frame, 128), 1);
    CHECK_EQ(asked, 128);
    CHECK_EQ(net_rx_burst(0, &frame, 129), 1);
    CHECK_EQ(asked, 128);
    CHECK_EQ(net_rx_burst(0, &frame, ~0u), 1);
    CHECK_EQ(asked, 128);
    CHECK_EQ(net_rx_burst(0, &frame, 0), E_ARG);
    CHECK_EQ(net_rx_burst(9, &frame, 0), E_ARG);
}

static void sends(void)
{
    struct net_frame frames[3] = {{0, 60, 0}, {0, 61, 0}, {0, 62, 0}};
    CHECK_EQ(net_tx(0, frames, 77), 1);
    CHECK_EQ(asked, 77);
    CHECK_EQ(net_tx(0, frames, (1ul << 32) + 60), 1);
    CHECK_EQ(asked, ~0u); // which no driver takes
    CHECK_EQ(net_tx_burst(0, frames, 3), 3);
    calls = 0;
    CHECK_EQ(net_tx_burst(0, frames, 0), 0);
    CHECK_EQ(calls, 0);
    CHECK(nic_takes(&nics[0], 14) && nic_takes(&nics[0], 1514));
    CHECK(!nic_takes(&nics[0], 13) && !nic_takes(&nics[0], 1515));
    CHECK(!nic_takes(&nics[0], 0) && !nic_takes(&nics[0], ~0u));
}

static void describes(void)
{
    struct net_info info;
    nics[0].rx_frames = 1;
    nics[0].rx_bytes = 2;
    nics[0].tx_frames = 3;
    nics[0].tx_bytes = 4;
    nics[0].rx_dropped = 6;
    nics[0].tx_dropped = 7;
    CHECK_EQ(net_info(0, &info), 0);
    CHECK(__builtin_strcmp(info.driver, "count") == 0);
    CHECK(__builtin_strcmp(info.pci, "03:04.0") == 0);
    CHECK_EQ(info.mac[0], 1);
    CHECK_EQ(info.mac[5], 6);
    CHECK_EQ(info.rx_ring, 99);
    CHECK_EQ(info.max_frame, 1514);
    CHECK(info.rx_frames == 1 && info.rx_bytes == 2 && info.tx_frames == 3);
    CHECK(info.tx_bytes == 4 && info.rx_missed == 5 && info.rx_dropped == 6);
    CHECK_EQ(info.tx_dropped, 7);
}

static void sixteen_and_no_more(void)
{
    add(NET_MAX_NICS - 1);
    CHECK_EQ(nic_count(), NET_MAX_NICS);
    CHECK_EQ(nic_add(&nics[NET_MAX_NICS]), E_UNSUPPORTED);
    CHECK_EQ(nics[15].index, 15);
    struct net_frame frame;
    word = 0;
    CHECK_EQ(net_rx(15, &frame), 1);
    CHECK_EQ(net_rx(16, &frame), E_NODEV);
}

static void gone_is_for_ever(void)
{
    struct net_frame frame = {0};
    struct net_info info;
    nic_set_gone(&nics[2]);
    calls = 0;
    CHECK_EQ(net_rx(2, &frame), E_GONE);
    CHECK_EQ(net_rx_burst(2, &frame, 1), E_GONE);
    CHECK_EQ(net_tx(2, &frame, 60), E_GONE);
    CHECK_EQ(net_tx_burst(2, &frame, 1), E_GONE);
    CHECK_EQ(net_info(2, &info), 0);
    CHECK_EQ(info.link, 0);
    CHECK_EQ(calls, 0);
    CHECK_EQ(net_rx(1, &frame), 1);
}

// A second core, at any moment of the first one's call.
static void second_core(struct nic *nic)
{
    struct net_frame frame = {0};
    struct net_info info;
    u32 before = calls, other = !nic->setting[NET_PROMISCUOUS];
    CHECK_EQ(net_rx(nic->index, &frame), E_BUSY);
    CHECK_EQ(net_rx_burst(nic->index, &frame, 1), E_BUSY);
    CHECK_EQ(net_tx(nic->index, &frame, 60), E_BUSY);
    CHECK_EQ(net_tx_burst(nic->index, &frame, 1), E_BUSY);
    CHECK_EQ(net_info(nic->index, &info), E_BUSY);
    CHECK_EQ(net_set(nic->index, NET_PROMISCUOUS, other), E_BUSY);
    CHECK_EQ(calls, before);
    CHECK_EQ(net_tx(nic->index + 1, &frame, 60), 1); // another NIC's business
    calls = before + 1;
}

static int shared_rx(struct nic *nic, struct net_frame *frames, u32 n)
{
    (void)frames, (void)n;
    second_core(nic);
    return 1;
}

static int shared_tx(struct nic *nic, const struct net_frame *frames, u32 n)
{
    (void)frames, (void)n;
    second_core(nic);
    return 1;
}

static void shared_info(struct nic *nic, struct net_info *info)
{
    (void)info;
    second_core(nic);
}

static int shared_set(struct nic *nic, int keep)
{
    (void)keep;
    second_core(nic);
    return 0;
}

static const struct nic_ops shared = {.rx = shared_rx,
                                      .tx = shared_tx,
                                      .info = shared_info,
                                      .set = shared_set,
                                      .recover = count_recover};

static void one_core_at_a_time(void)
{
    struct net_frame frame = {0};
    struct net_info info;
    nics[3].ops = &shared;
    nics[3].most[NET_PROMISCUOUS] = 1;
    calls = 0;
    CHECK_EQ(net_rx(3, &frame), 1);
    CHECK_EQ(net_tx(3, &frame, 60), 1);
    CHECK_EQ(net_info(3, &info), 0);
    CHECK_EQ(net_set(3, NET_PROMISCUOUS, 1), 0);
    CHECK_EQ(calls, 4);
    nics[3].ops = &counting;
}

static void recovers_those_that_can(void)
{
    struct net_frame frame = {0};
    nics[5].ops = &without_recover;
    nic_recover_all(1);
    CHECK_EQ(recovered, 0xFFFF & ~(1u << 2) & ~(1u << 5));
    recovered = 0;
    CHECK(nic_enter(&nics[4]) && nic_enter(&nics[6])); // cores that never leave
    nics[6].setting_up = 1;                            // this one will
    nic_end_calls();
    CHECK_EQ(net_rx(4, &frame), 1);
    CHECK_EQ(net_rx(6, &frame), E_BUSY);
    nic_recover_all(0);
    CHECK_EQ(recovered, 1u << 4);
    nic_recover_all(0);
    CHECK_EQ(recovered, 1u << 4);
}

int main(void)
{
    RUN(no_such_nic);
    RUN(empty_is_the_word);
    RUN(bursts_are_clamped);
    RUN(sends);
    RUN(describes);
    RUN(sixteen_and_no_more);
    RUN(gone_is_for_ever);
    RUN(one_core_at_a_time);
    RUN(recovers_those_that_can);
    return TEST_RESULT();
}
