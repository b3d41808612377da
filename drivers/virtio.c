// virtio.c - what every virtio device shares, modern and legacy, on PCI.
// SPDX-License-Identifier: MIT
//
// VIRTIO 1.1. Tried on QEMU 7.2: transitional, modern only, legacy only.
#include "virtio.h"

#define LOG_TAG "virtio"
#include "../kernel/log.h"

enum { RESET_MS = 500, LEGACY_BYTES = 24, LEGACY_ALIGN = 4096 };
enum { MOST_BAR = 5, LEAST_QUEUE = 4, MOST_QUEUE = 32768 };
#define LEGACY_PHYS_END (1ul << 44) // a 32-bit number of a 4 KiB page

// ---- finding the registers ----

struct virtio_window { // where a vendor capability says registers are
    u32 bar, offset, length;
};

// 4.1.4: the first capability of this type that lies in a memory BAR. Returns
// its offset in configuration space, 0: none.
static u32 virtio_find_window(const struct pci_device *device, u8 type,
                              u64 least, struct virtio_window *window)
{
    u32 at = 0;
    while ((at = pci_find_capability(device, PCI_CAP_VENDOR, at)) != 0) {
        *window = (struct virtio_window){
            .bar = pci_read8(device, at + CAP_BAR),
            .offset = pci_read32(device, at + CAP_OFFSET),
            .length = pci_read32(device, at + CAP_LENGTH),
        };
        if (pci_read8(device, at + CAP_TYPE) == type &&
            window->bar <= MOST_BAR && window->length >= least) {
            return at;
        }
    }
    return 0;
}

static int virtio_map_window(const struct pci_device *device,
                             const struct virtio_window *window, u64 *address)
{
    u64 bar;
    TRY(pci_map_bar(device, window->bar, (u64)window->offset + window->length,
                    &bar));
    *address = bar + window->offset;
    return 0;
}

static int virtio_find_modern(struct virtio *virtio, u64 config_bytes)
{
    const struct pci_device *device = virtio->pci;
    struct virtio_window common, notify, config;
    u32 at = virtio_find_window(device, CAP_TYPE_NOTIFY, 2, &notify);
    if (at == 0 ||
        !virtio_find_window(device, CAP_TYPE_COMMON, COMMON_BYTES, &common) ||
        !virtio_find_window(device, CAP_TYPE_DEVICE, config_bytes, &config)) {
        return E_NODEV;
    }
    TRY(virtio_map_window(device, &common, &virtio->common));
    TRY(virtio_map_window(device, &notify, &virtio->notify));
    TRY(virtio_map_window(device, &config, &virtio->config));
    virtio->config_bytes = config.length;
    virtio->notify_bytes = notify.length;
    virtio->notify_multiplier = pci_read32(device, at + CAP_NOTIFY_MULTIPLIER);
    pci_enable(device, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF);
    return 0;
}

static int virtio_find_legacy(struct virtio *virtio, u64 config_bytes)
{
    struct pci_bar bar = pci_bar(virtio->pci, 0);
    if (!bar.is_io || bar.base == 0 ||
        bar.bytes < LEGACY_DEVICE_CONFIG + config_bytes) {
        return E_NODEV;
    }
    virtio->port = (u16)bar.base;
    virtio->config_bytes = bar.bytes - LEGACY_DEVICE_CONFIG;
    pci_enable(virtio->pci, PCI_COMMAND_IO | PCI_COMMAND_INTX_OFF);
    return 0;
}

int virtio_find(struct virtio *virtio, const struct pci_device *device,
                u64 config_bytes)
{
    *virtio = (struct virtio){.pci = device};
    if (virtio_find_modern(virtio, config_bytes) == 0) {
        return 0;
    }
    *virtio = (struct virtio){.pci = device};
    int result = virtio_find_legacy(virtio, config_bytes);
    if (result < 0) {
        pci_disable_master(device); // whatever firmware did with it
    }
    return result;
}

// ---- registers that both kinds have ----

u32 virtio_status(const struct virtio *virtio)
{
    return virtio->port ? inb((u16)(virtio->port + LEGACY_DEVICE_STATUS))
                        : mmio_read8(virtio->common + COMMON_DEVICE_STATUS);
}

static void virtio_set_status(const struct virtio *virtio, u32 status)
{
    if (virtio->port) {
        outb((u16)(virtio->port + LEGACY_DEVICE_STATUS), (u8)status);
    } else {
        mmio_write8(virtio->common + COMMON_DEVICE_STATUS, (u8)status);
    }
}

static u32 virtio_legacy_config(const struct virtio *virtio)
{
    return (u32)virtio->port + LEGACY_DEVICE_CONFIG + virtio->vectors;
}

u8 virtio_config8(const struct virtio *virtio, u32 offset)
{
    return virtio->port ? inb((u16)(virtio_legacy_config(virtio) + offset))
                        : mmio_read8(virtio->config + offset);
}

u16 virtio_config16(const struct virtio *virtio, u32 offset)
{
    return virtio->port ? inw((u16)(virtio_legacy_config(virtio) + offset))
                        : mmio_read16(virtio->config + offset);
}

u32 virtio_config32(const struct virtio *virtio, u32 offset)
{
    return virtio->port ? inl((u16)(virtio_legacy_config(virtio) + offset))
                        : mmio_read32(virtio->config + offset);
}

static u64 virtio_offered(const struct virtio *virtio)
{
    if (virtio->port) {
        return inl((u16)(virtio->port + LEGACY_DEVICE_FEATURES));
    }
    mmio_write32(virtio->common + COMMON_DEVICE_FEATURE_SELECT, 0);
    u64 low = mmio_read32(virtio->common + COMMON_DEVICE_FEATURE);
    mmio_write32(virtio->common + COMMON_DEVICE_FEATURE_SELECT, 1);
    u64 high = mmio_read32(virtio->common + COMMON_DEVICE_FEATURE);
    return high << 32 | low;
}

static void virtio_accept(const struct virtio *virtio, u64 features)
{
    if (virtio->port) {
        outl((u16)(virtio->port + LEGACY_DRIVER_FEATURES), (u32)features);
        return;
    }
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE_SELECT, 0);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE, (u32)features);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE_SELECT, 1);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE, (u32)(features >> 32));
}

// ---- 3.1.1: driver initialisation ----

// 2.4: the reset is done when the status reads 0.
static int virtio_reset(const struct virtio *virtio)
{
    virtio_set_status(virtio, 0);
    struct deadline limit = deadline_ms(RESET_MS);
    u32 status;
    while ((status = virtio_status(virtio)) != 0) {
        if (deadline_passed(&limit)) {
            return status == STATUS_GONE ? E_GONE : E_TIMEOUT;
        }
        pause();
    }
    return 0;
}

int virtio_begin(struct virtio *virtio, u64 wanted)
{
    TRY(virtio_reset(virtio));
    u32 status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;
    virtio_set_status(virtio, STATUS_ACKNOWLEDGE);
    virtio_set_status(virtio, status);
    virtio->features = virtio_offered(virtio) & wanted;
    virtio_accept(virtio, virtio->features);
    pci_enable(virtio->pci, PCI_COMMAND_MASTER);
    if (virtio->port) {
        return 0;
    }
    if ((virtio->features & VIRTIO_F_VERSION_1) == 0) {
        return E_UNSUPPORTED;
    }
    virtio_set_status(virtio, status | STATUS_FEATURES_OK);
    return virtio_status(virtio) == (status | STATUS_FEATURES_OK)
               ? 0
               : E_UNSUPPORTED;
}

void virtio_run(struct virtio *virtio)
{
    virtio_set_status(virtio, virtio_status(virtio) | STATUS_DRIVER_OK);
}

void virtio_fail(struct virtio *virtio)
{
    virtio_set_status(virtio, STATUS_FAILED);
    pci_disable_master(virtio->pci);
}

// ---- queues ----

static u32 virtio_queue_device_size(const struct virtio *virtio, u16 index)
{
    if (virtio->port) {
        outw((u16)(virtio->port + LEGACY_QUEUE_SELECT), index);
        return inw((u16)(virtio->port + LEGACY_QUEUE_SIZE));
    }
    mmio_write16(virtio->common + COMMON_QUEUE_SELECT, index);
    return mmio_read16(virtio->common + COMMON_QUEUE_SIZE);
}

// 2.6: table and avail ring together, the used ring on a page of its own, as
// legacy devices want it.
static u64 virtio_queue_used_offset(u32 size)
{
    u64 avail = sizeof(struct virtq_avail) + (size + 1) * sizeof(u16);
    return align_up(size * sizeof(struct virtq_desc) + avail, LEGACY_ALIGN);
}

int virtio_queue_alloc(struct virtio *virtio, struct virtq *queue, u16 index,
                       u32 most_size)
{
    u32 size = virtio_queue_device_size(virtio, index);
    if (size < LEAST_QUEUE || size > MOST_QUEUE || (size & (size - 1)) != 0) {
        log_warn("queue %u has size %u", index, size);
        return E_UNSUPPORTED;
    }
    *queue = (struct virtq){
        .index = index, .vector = VIRTIO_NO_VECTOR, .most = size};
    // A legacy driver has no say.
    size = virtio->port == 0 && size > most_size ? most_size : size;
    return virtio_queue_resize(queue, size, queue);
}

int virtio_queue_resize(const struct virtq *queue, u32 size,
                        struct virtq *larger)
{
    u64 used = virtio_queue_used_offset(size);
    u64 bytes = used + sizeof(struct virtq_used) +
                size * sizeof(struct virtq_used_elem) + sizeof(u16);
    u8 *memory = memory_boot_buffer(bytes, LEGACY_ALIGN);
    if (memory == 0) {
        return E_NOMEM;
    }
    *larger = (struct virtq){
        .desc = (struct virtq_desc *)(void *)memory,
        .avail = (struct virtq_avail *)(void *)(memory +
                                                size * sizeof(*larger->desc)),
        .used = (struct virtq_used *)(void *)(memory + used),
        .bytes = bytes,
        .index = queue->index,
        .vector = queue->vector,
        .size = size,
        .most = queue->most,
    };
    return 0;
}

static u16 virtio_queue_write_vector(const struct virtio *virtio,
                                     const struct virtq *queue)
{
    if (virtio->port) {
        u16 port = (u16)(virtio->port + LEGACY_QUEUE_VECTOR);
        outw((u16)(virtio->port + LEGACY_QUEUE_SELECT), queue->index);
        outw(port, queue->vector);
        return inw(port);
    }
    mmio_write16(virtio->common + COMMON_QUEUE_SELECT, queue->index);
    mmio_write16(virtio->common + COMMON_QUEUE_MSIX_VECTOR, queue->vector);
    return mmio_read16(virtio->common + COMMON_QUEUE_MSIX_VECTOR);
}

int virtio_queue_set_vector(struct virtio *virtio, struct virtq *queue,
                            u16 vector)
{
    u64 bytes = LEGACY_VECTORS_BYTES;
    if (virtio->port && virtio->vectors == 0) { // 4.1.4.8
        if (virtio->config_bytes < bytes + NET_CONFIG_BYTES) {
            return E_UNSUPPORTED;
        }
        virtio->vectors = LEGACY_VECTORS_BYTES;
    }
    queue->vector = vector;
    return virtio_queue_write_vector(virtio, queue) == vector ? 0
                                                              : E_UNSUPPORTED;
}

static int virtio_queue_start_legacy(const struct virtio *virtio,
                                     struct virtq *queue, u64 phys)
{
    if (virtio_queue_device_size(virtio, queue->index) != queue->size) {
        return E_IO;
    }
    if (phys >= LEGACY_PHYS_END) {
        return E_UNSUPPORTED;
    }
    queue->port = (u16)(virtio->port + LEGACY_QUEUE_NOTIFY);
    if (virtio->vectors != 0) {
        virtio_queue_write_vector(virtio, queue);
    }
    outl((u16)(virtio->port + LEGACY_QUEUE_PFN), (u32)(phys / LEGACY_ALIGN));
    return 0;
}

static void virtio_set_address(u64 address, u64 phys)
{
    mmio_write32(address, (u32)phys);
    mmio_write32(address + 4, (u32)(phys >> 32));
}

// 4.1.5.1.3, 4.1.4.4: the doorbell lies where the device says.
static int virtio_queue_start_modern(const struct virtio *virtio,
                                     struct virtq *queue, u64 phys)
{
    u64 common = virtio->common;
    if (virtio_queue_device_size(virtio, queue->index) < queue->size) {
        return E_IO;
    }
    u64 doorbell = (u64)mmio_read16(common + COMMON_QUEUE_NOTIFY_OFF) *
                   virtio->notify_multiplier;
    if (doorbell > virtio->notify_bytes - sizeof(u16)) {
        return E_IO;
    }
    queue->notify = virtio->notify + doorbell;
    mmio_write16(common + COMMON_QUEUE_SIZE, (u16)queue->size);
    mmio_write16(common + COMMON_QUEUE_MSIX_VECTOR, queue->vector);
    virtio_set_address(common + COMMON_QUEUE_DESC, phys);
    virtio_set_address(common + COMMON_QUEUE_DRIVER,
                       phys + queue->size * sizeof(struct virtq_desc));
    virtio_set_address(common + COMMON_QUEUE_DEVICE,
                       phys + virtio_queue_used_offset(queue->size));
    mmio_write16(common + COMMON_QUEUE_ENABLE, 1);
    return 0;
}

int virtio_queue_start(struct virtio *virtio, struct virtq *queue)
{
    u64 phys = phys_of(queue->desc);
    memset(queue->desc, 0, queue->bytes);
    queue->avail->flags =
        queue->vector == VIRTIO_NO_VECTOR ? AVAIL_NO_INTERRUPT : 0;
    return virtio->port ? virtio_queue_start_legacy(virtio, queue, phys)
                        : virtio_queue_start_modern(virtio, queue, phys);
}
