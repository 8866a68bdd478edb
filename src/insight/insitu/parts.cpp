#include "insight/insitu/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

namespace {

constexpr std::array<char, 8> part_magic{'F', 'B', 'P', 'A', 'R', 'T', '\0', '\n'};
constexpr std::uint32_t part_version = 1;
// A damaged count is refused before memory is allocated. The largest part is the halos of a node's particles.
constexpr std::uint64_t task_bytes_max = 1ull << 40;
constexpr std::uint64_t task_name_max = 1u << 20;
constexpr std::uint64_t part_bytes_max = 1ull << 40;

std::string directory_of(const std::string& run, const std::string& stream, const catalog::AnalysedSave& save) {
    return catalog::analysed_path(run, stream) + "/" + catalog::analysed_name(save);
}

std::string part_path(const std::string& directory, std::uint32_t node) {
    return fmt::format("{}/node-{:05}", directory, node);
}

std::string taken_directory(const std::string& directory, std::uint32_t node) {
    return fmt::format("{}.of-{:05}", directory, node);
}

Result<NodePart> read_part(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(text, sys::read_text(store, path, part_bytes_max));
    return decode_part(std::as_bytes(std::span(text)), path);
}

}  // namespace

catalog::AnalysedSave analysed_save(const format::Record& record) {
    return {record.lineage.line(), record.lineage.save, record.step, record.snapshot_id};
}

std::vector<std::byte> encode_part(const NodePart& part) {
    PartWriter out;
    for (const auto letter : part_magic) out.number(letter);
    out.number(part_version);
    out.number(part.save.line.session);
    out.number(part.save.line.turn);
    out.number(part.save.number);
    out.number(part.save.step);
    out.number(part.save.snapshot_id);
    out.number(part.node);
    out.number(part.nodes);
    out.number(part.rules_crc32c);
    out.number(static_cast<std::uint64_t>(part.tasks.size()));
    for (const auto& task : part.tasks) {
        out.numbers(std::span<const char>(task.task));
        out.numbers(std::span(reinterpret_cast<const std::uint8_t*>(task.bytes.data()), task.bytes.size()));
    }
    auto bytes = std::move(out).take();
    // The checksum comes last and covers all bytes before it.
    const auto crc = std::array{crc32c(bytes)};
    const auto of_crc = std::as_bytes(std::span(crc));
    bytes.insert(bytes.end(), of_crc.begin(), of_crc.end());
    return bytes;
}

Result<NodePart> decode_part(std::span<const std::byte> bytes, const std::string& name) {
    const auto damaged = [&](const char* why) {
        return Error{ErrorKind::corrupt, fmt::format("{} is damaged: {}", name, why)};
    };
    if (bytes.size() < part_magic.size() + 2 * sizeof(std::uint32_t)) return damaged("it is cut short");
    const auto body = bytes.first(bytes.size() - sizeof(std::uint32_t));
    // Checked before any field is used.
    PartReader check(bytes.subspan(body.size()), name);
    if (check.number<std::uint32_t>() != crc32c(body)) return damaged("its checksum does not match its bytes");
    PartReader in(body, name);
    for (const auto letter : part_magic)
        if (in.number<char>() != letter) return damaged("it is not a part of an analysis");
    if (const auto version = in.number<std::uint32_t>(); version != part_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("{} has version {}; this program reads version {}", name, version, part_version)};
    NodePart part;
    part.save.line.session = in.number<std::uint32_t>();
    part.save.line.turn = in.number<std::uint32_t>();
    part.save.number = in.number<std::uint64_t>();
    part.save.step = in.number<std::int64_t>();
    part.save.snapshot_id = in.number<std::uint64_t>();
    part.node = in.number<std::uint32_t>();
    part.nodes = in.number<std::uint32_t>();
    part.rules_crc32c = in.number<std::uint32_t>();
    const auto tasks = in.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < tasks; ++i) {
        const auto task = in.numbers<char>(task_name_max);
        const auto own = in.numbers<std::uint8_t>(task_bytes_max);
        const auto begin = reinterpret_cast<const std::byte*>(own.data());
        // Each task has at least two counts, so a wrong number of tasks ends here.
        if (task.empty()) return damaged("an analysis has no name");
        part.tasks.push_back({{task.begin(), task.end()}, {begin, begin + own.size()}});
    }
    FB_TRY(in.done());
    return part;
}

Result<> write_part(sys::Store& store, const std::string& run, const std::string& stream, const NodePart& part) {
    const auto directory = directory_of(run, stream, part.save);
    FB_TRY(sys::make_directories_below(store, run, directory));
    const auto path = part_path(directory, part.node), temporary = sys::temporary_beside(path);
    FB_TRY_ASSIGN(file, store.open(temporary, sys::Access::create));
    FB_TRY(file->write(0, encode_part(part)));
    FB_TRY(file->sync());
    FB_TRY(file->close());
    // After the rename another node may take the part. The name is not synced: a power cut also loses the staged data.
    return store.rename(temporary, path);
}

Result<std::optional<std::vector<NodePart>>> take_parts(sys::Store& store, const std::string& run,
                                                        const std::string& stream, const NodePart& own) {
    const auto directory = directory_of(run, stream, own.save);
    const auto taken = taken_directory(directory, own.node);
    FB_TRY_ASSIGN(before, store.exists(taken));
    // An earlier worker of this node may have taken the parts and been killed.
    if (!before) {
        for (std::uint32_t node = 0; node < own.nodes; ++node) {
            FB_TRY_ASSIGN(there, store.exists(part_path(directory, node)));
            if (!there) return std::optional<std::vector<NodePart>>();
        }
        // The rename decides between nodes that see all parts at once: the second rename fails with `missing`.
        const auto renamed = store.rename(directory, taken);
        if (!renamed && renamed.error().kind == ErrorKind::missing) return std::optional<std::vector<NodePart>>();
        FB_TRY(renamed);
    }
    std::vector<NodePart> parts;
    for (std::uint32_t node = 0; node < own.nodes; ++node) {
        const auto path = part_path(taken, node);
        FB_TRY_ASSIGN(part, read_part(store, path));
        if (part.save != own.save || part.nodes != own.nodes || part.node != node)
            return Error{ErrorKind::corrupt, fmt::format("{} is of another snapshot", path)};
        if (part.rules_crc32c != own.rules_crc32c)
            return Error{ErrorKind::refused, fmt::format("{} was made with other options of the analyses", path)};
        parts.push_back(std::move(part));
    }
    return std::optional(std::move(parts));
}

Result<> remove_parts(sys::Store& store, const std::string& run, const std::string& stream,
                      const catalog::AnalysedSave& save) {
    const auto directory = catalog::analysed_path(run, stream);
    const auto entries = store.list(directory);
    if (!entries) return entries.error().kind == ErrorKind::missing ? Result<>() : Result<>(entries.error());
    for (const auto& entry : *entries) {
        const auto there = catalog::analysed_of(entry.name);
        // Saves from before sessions were numbered have no order, and are not removed as earlier saves.
        const bool is_earlier = there && std::tuple(there->line, there->number) < std::tuple(save.line, save.number);
        if (there == save || is_earlier) FB_TRY(store.remove_tree(directory + "/" + entry.name));
    }
    return {};
}

}  // namespace forebay::insitu
