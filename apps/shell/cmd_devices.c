// cmd_devices.c - pci, net, disk: what is plugged in, and how it fares.
// SPDX-License-Identifier: MIT
#include "shell.h"

// ---- pci ----

struct class_name { // PCI Code and ID Assignment 1.11, section 1
    u8 class_code, subclass;
    const char *text;
};

static const struct class_name class_names[] = {
    {0x01, 0x00, "SCSI storage"}, {0x01, 0x01, "IDE storage"},
    {0x01, 0x04, "RAID storage"}, {0x01, 0x06, "SATA storage"},
    {0x01, 0x08, "NVMe storage"}, {0x02, 0x00, "Ethernet"},
    {0x03, 0x00, "VGA display"},  {0x03, 0x02, "3D display"},
    {0x04, 0x01, "audio"},        {0x04, 0x03, "HD audio"},
    {0x05, 0x00, "memory"},       {0x06, 0x00, "host bridge"},
    {0x06, 0x01, "ISA bridge"},   {0x06, 0x04, "PCI bridge"},
    {0x07, 0x00, "serial port"},  {0x08, 0x80, "system"},
    {0x0C, 0x03, "USB"},          {0x0C, 0x05, "SMBus"},
    {0x0D, 0x80, "wireless"},     {0x10, 0x80, "encryption"},
};

static const char *class_text(const struct pci_info *info)
{
    for (u32 i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++) {
        if (class_names[i].class_code == info->class_code &&
            class_names[i].subclass == info->subclass) {
            return class_names[i].text;
        }
    }
    return "";
}

int command_pci(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct pci_info info;
    print("%-13s%-11s%-10s%-16s%s\n", "Address", "Vendor:ID", "Class", "Driver",
          "Kind");
    for (u32 i = 0; os->pci_info(i, &info) >= 0; i++) {
        print("%04x:%02x:%02x.%x %04x:%04x  %02x.%02x.%02x  %-16s%s\n",
              info.segment, info.bus, info.device, info.function, info.vendor,
              info.device_id, info.class_code, info.subclass, info.prog_if,
              *info.driver ? info.driver : "-", class_text(&info));
    }
    return 0;
}

// ---- net ----

static void net_row(u32 nic, const struct net_info *info)
{
    const u8 *mac = info->mac;
    char speed[12] = "-"; // not every device tells
    if (info->speed_mbps > 0) {
        format(speed, sizeof(speed), "%u", info->speed_mbps);
    }
    print("%3u  %-12s %-13s %02x:%02x:%02x:%02x:%02x:%02x  %-4s %7s %6u\n", nic,
          info->driver, info->pci, mac[0], mac[1], mac[2], mac[3], mac[4],
          mac[5], info->link ? "up" : "down", speed, info->max_frame);
    print("     received %lu frames, %lu bytes, %lu dropped, %lu missed\n",
          info->rx_frames, info->rx_bytes, info->rx_dropped, info->rx_missed);
    print("     sent     %lu frames, %lu bytes, %lu dropped\n", info->tx_frames,
          info->tx_bytes, info->tx_dropped);
}

int command_net(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct net_info info;
    u32 nic = 0;
    for (; os->net_info(nic, &info) >= 0; nic++) {
        if (nic == 0) {
            print("%3s  %-12s %-13s %-17s  %-4s %7s %6s\n", "NIC", "Driver",
                  "Address", "MAC", "Link", "Mbit/s", "Frame");
        }
        net_row(nic, &info);
    }
    if (nic == 0) {
        print_text("No network interface.\n");
    }
    return 0;
}

// ---- disk ----

static void disk_row(u32 disk, const struct disk_info *info)
{
    print("%4u  %-11s %-13s %10lu %6u %9lu %9lu %6lu  %s\n", disk, info->driver,
          info->pci, info->blocks / 256, info->sector_bytes, info->reads,
          info->writes, info->errors, info->model);
    if (info->error_block != ~0ul) {
        print("      latest error at block %lu\n", info->error_block);
    }
}

int command_disk(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct disk_info info;
    u32 disk = 0;
    for (; os->disk_info(disk, &info) >= 0; disk++) {
        if (disk == 0) {
            print("%4s  %-11s %-13s %10s %6s %9s %9s %6s  %s\n", "Disk",
                  "Driver", "Address", "MiB", "Sector", "Reads", "Writes",
                  "Errors", "Model");
        }
        disk_row(disk, &info);
    }
    if (disk == 0) {
        print_text("No disk.\n");
    }
    return 0;
}
