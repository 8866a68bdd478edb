// Opens a name: one file, or a list of ranks and the partitions with their data.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/try.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign::genericio {

namespace {

constexpr const char* partition_column = "$partition";
constexpr const char* rank_column = "$rank";

const GioVariable* find(const GioHeader& header, const std::string& name) {
    const auto variable = std::ranges::find(header.variables, name, &GioVariable::name);
    return variable == header.variables.end() ? nullptr : &*variable;
}

Error damage(const std::string& path, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("{} and its partitions are a damaged GenericIO output: {}", path, why), "",
            "copy all of them again, or use older files"};
}

Result<> check_alike(const Set& set, const Set::Part& part, const std::string& path) {
    const auto& first = set.parts.front();
    if (part.header.variables != first.header.variables)
        return damage(path, fmt::format("{} and {} have different variables.", first.path, part.path));
    // Fields that only some header versions have are read from the first part, so all parts must be alike.
    const auto age = [](const GioHeader& header) {
        return std::tuple(header.has_global_ranks, header.origin_place.bytes, header.scale_place.bytes);
    };
    if (age(part.header) != age(first.header))
        return damage(path, fmt::format("{} and {} have headers of different versions.", first.path, part.path));
    return {};
}

// Partition number -> its ranks, in the order of the list.
using Members = std::map<std::int32_t, std::vector<std::uint64_t>>;

Result<Members> members_of(sys::File& file, const Set::Part& list) {
    FB_TRY_ASSIGN(partitions, read_integers(file, list, partition_column));
    Members members;
    if (find(list.header, rank_column) == nullptr) return damage(list.path, "its list has no column '$rank'.");
    FB_TRY_ASSIGN(ranks, read_integers(file, list, rank_column));
    std::vector<std::int32_t> seen = ranks;
    std::ranges::sort(seen);
    if (!seen.empty() && (seen.front() < 0 || std::ranges::adjacent_find(seen) != seen.end()))
        return damage(list.path, "its list has a rank twice, or a negative one.");
    for (std::size_t i = 0; i < ranks.size(); ++i)
        members[partitions[i]].push_back(static_cast<std::uint64_t>(ranks[i]));
    if (members.empty()) return damage(list.path, "its list is empty.");
    return members;
}

Result<Set> open_partitions(sys::Store& store, Set::Part list, const Members& members) {
    Set set;
    for (const auto& [number, ranks] : members) {
        Set::Part part{.path = fmt::format("{}#{}", list.path, number), .header = {}};
        auto file = store.open(part.path, sys::Access::read);
        if (!file && file.error().kind == ErrorKind::missing)
            return Error{ErrorKind::missing, fmt::format("{} lists {}, which is missing", list.path, part.path), "",
                         "copy it beside the list"};
        if (!file) return file.error();
        FB_TRY_ASSIGN(header, read_header(**file, part.path));
        part.header = std::move(header);
        if (part.header.big_endian != list.header.big_endian)
            return damage(list.path, fmt::format("{} does not have the byte order of the list.", part.path));
        if (part.header.ranks.size() != ranks.size())
            return damage(list.path, fmt::format("{} has {} ranks, but the list has {}.", part.path,
                                                 part.header.ranks.size(), ranks.size()));
        auto ordered = ranks;
        // A partition holds its ranks in rising order.
        std::ranges::sort(ordered);
        for (std::size_t i = 0; i < ordered.size(); ++i) {
            // Older headers lack global ranks.
            if (part.header.has_global_ranks && part.header.ranks[i].global_rank != ordered[i])
                return damage(list.path, fmt::format("{} holds rank {}, but the list has {}.", part.path,
                                                     part.header.ranks[i].global_rank, ordered[i]));
            set.ranks.push_back(
                {static_cast<std::uint32_t>(set.parts.size()), static_cast<std::uint32_t>(i), ordered[i]});
        }
        set.parts.push_back(std::move(part));
        FB_TRY(check_alike(set, set.parts.back(), list.path));
    }
    std::ranges::sort(set.ranks, {}, &Set::Place::global_rank);
    set.list = std::move(list);
    return set;
}

}  // namespace

std::uint64_t Set::elements() const {
    std::uint64_t all = 0;
    for (const auto& part : parts) all += part.header.elements;
    return all;
}

Result<std::vector<std::int32_t>> read_integers(sys::File& file, const Set::Part& part, const std::string& variable) {
    const auto& header = part.header;
    const auto* described = find(header, variable);
    if (described == nullptr || described->record_bytes != 4 || described->flags != is_signed)
        return damage(part.path, fmt::format("its column '{}' does not have 32-bit integers.", variable));
    const auto index = static_cast<std::size_t>(described - header.variables.data());
    std::vector<std::int32_t> values;
    SealedReader reader;
    for (std::size_t rank = 0; rank < header.ranks.size(); ++rank) {
        FB_TRY_ASSIGN(block, header.sealed(rank, index, part.path));
        // A block is as large as its elements, so memory is bounded by the file, or by Blosc's limit.
        const auto damaged = [&](const Error& error) {
            if (error.kind != ErrorKind::corrupt) return error;
            return damage(part.path, fmt::format("'{}' of rank {}: {}.", variable, rank, error.what));
        };
        if (auto begun = reader.begin(file, block); !begun) return damaged(begun.error());
        const auto before = values.size();
        values.resize(before + block.plain_bytes / 4);
        const auto bytes = std::as_writable_bytes(std::span(values).subspan(before));
        if (auto read = reader.next(bytes); !read) return damaged(read.error());
        if (header.big_endian) swap_numbers(i32, bytes);
    }
    return values;
}

Result<Set> open_set(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(header, read_header(*file, path));
    Set::Part part{.path = path, .header = std::move(header)};
    if (find(part.header, partition_column) != nullptr) {
        FB_TRY_ASSIGN(members, members_of(*file, part));
        return open_partitions(store, std::move(part), members);
    }
    Set set;
    for (std::uint32_t rank = 0; rank < part.header.ranks.size(); ++rank)
        set.ranks.push_back({0, rank, part.header.ranks[rank].global_rank});
    set.parts.push_back(std::move(part));
    return set;
}

}  // namespace forebay::foreign::genericio
