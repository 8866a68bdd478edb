#include "transfer/team/team_words.hpp"

#include <algorithm>
#include <array>

#include "transfer/compare/checksums.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t status_numbers = 17;
constexpr std::uint64_t kinds_of_entries = 8;

void add_status(std::vector<std::uint64_t>& numbers, const sys::EntryStatus& status) {
    const std::array<std::uint64_t, status_numbers> all{static_cast<std::uint64_t>(status.kind),
                                                        status.permissions,
                                                        status.user,
                                                        status.group,
                                                        status.names,
                                                        status.bytes,
                                                        status.allocated_bytes,
                                                        status.device_number,
                                                        status.id.device,
                                                        status.id.number,
                                                        static_cast<std::uint64_t>(status.accessed.seconds),
                                                        status.accessed.nanoseconds,
                                                        static_cast<std::uint64_t>(status.modified.seconds),
                                                        status.modified.nanoseconds,
                                                        static_cast<std::uint64_t>(status.changed.seconds),
                                                        status.changed.nanoseconds,
                                                        (status.has_times ? 0u : 1u) | (status.is_mount ? 2u : 0u) |
                                                            (status.is_immutable ? 4u : 0u) |
                                                            (status.is_append_only ? 8u : 0u)};
    numbers.insert(numbers.end(), all.begin(), all.end());
}

// Missing numbers are 0.
sys::EntryStatus status_from(const std::vector<std::uint64_t>& numbers, std::size_t at) {
    std::array<std::uint64_t, status_numbers> all{};
    for (std::size_t i = 0; i < all.size() && at + i < numbers.size(); ++i) all[i] = numbers[at + i];
    const auto time = [&](std::size_t first) {
        return sys::FileTime{static_cast<std::int64_t>(all[first]), static_cast<std::uint32_t>(all[first + 1])};
    };
    return {.kind = static_cast<sys::EntryKind>(std::min(all[0], kinds_of_entries - 1)),
            .permissions = static_cast<std::uint32_t>(all[1]),
            .user = static_cast<std::uint32_t>(all[2]),
            .group = static_cast<std::uint32_t>(all[3]),
            .names = all[4],
            .bytes = all[5],
            .allocated_bytes = all[6],
            .device_number = all[7],
            .id = {all[8], all[9]},
            .accessed = time(10),
            .modified = time(12),
            .changed = time(14),
            .is_mount = (all[16] & 2u) != 0,
            .is_immutable = (all[16] & 4u) != 0,
            .is_append_only = (all[16] & 8u) != 0,
            .has_times = (all[16] & 1u) == 0};
}

}  // namespace

TeamMessage message_of(const LogEntry& log_entry) {
    return {.kind = TeamKind::log_entry,
            .number = static_cast<std::uint64_t>(log_entry.kind),
            .path = log_entry.path,
            .text = log_entry.why};
}

EntryLog::Taker log_to_first(TeamPort& port) {
    return [&port](const LogEntry& log_entry) {
        port.send(0, message_of(log_entry));
        return Result<>();
    };
}

void add_log_entry(const TeamMessage& message, EntryLog& entry_log) {
    if (message.kind == TeamKind::log_entry && message.number < static_cast<std::uint64_t>(EntryEvent::count))
        entry_log.add(static_cast<EntryEvent>(message.number), message.path, message.text);
}

TeamMessage message_of(const Unkept& unkept) {
    TeamMessage message{.kind = TeamKind::unkept, .path = unkept.path, .text = unkept.part, .texts = {unkept.value}};
    add_status(message.numbers, unkept.status);
    return message;
}

Unkept unkept_of(const TeamMessage& message) {
    return {.path = message.path,
            .part = message.text,
            .value = message.texts.empty() ? "" : message.texts.front(),
            .status = status_from(message.numbers, 0)};
}

TeamMessage message_of(std::span<const WalkedEntry> entries) {
    TeamMessage message{.kind = TeamKind::listed};
    for (const auto& entry : entries) {
        message.texts.push_back(entry.path);
        add_status(message.numbers, entry.status);
        message.numbers.push_back(entry.is_released ? 1 : 0);
    }
    return message;
}

std::vector<WalkedEntry> walked_of(const TeamMessage& message) {
    std::vector<WalkedEntry> entries;
    constexpr auto entry_numbers = status_numbers + 1;
    for (const auto& path : message.texts) {
        const auto at = entries.size() * entry_numbers;
        const auto released_at = at + status_numbers;
        entries.push_back({path, status_from(message.numbers, at),
                           released_at < message.numbers.size() && message.numbers[released_at] != 0});
    }
    return entries;
}

TeamMessage message_of(const FileSum& sum) {
    return {.kind = TeamKind::summed, .number = sum.bytes, .flags = sum.crc32c, .path = sum.path};
}

FileSum sum_from(const TeamMessage& message) {
    return {.path = message.path, .bytes = message.number, .crc32c = static_cast<std::uint32_t>(message.flags)};
}

TeamMessage message_of(const Error& error) {
    return {.kind = TeamKind::failed,
            .number = static_cast<std::uint64_t>(error.kind),
            .text = error.what,
            .texts = {error.safe, error.next}};
}

Error error_of(const TeamMessage& message) {
    const auto kind = std::clamp(message.number, static_cast<std::uint64_t>(ErrorKind::retry),
                                 static_cast<std::uint64_t>(ErrorKind::broken));
    return {static_cast<ErrorKind>(kind), message.text, message.texts.empty() ? "" : message.texts[0],
            message.texts.size() < 2 ? "" : message.texts[1]};
}

}  // namespace forebay::tree
