// The progress of an export, so that a killed export can continue: a small text beside the unfinished file, replaced
// atomically. Format: docs/formats/export.md.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::move {

struct Journal {
    std::uint64_t identity = 0;  // of the export
    std::uint64_t durable = 0;   // all data of the part below this file offset are durable
    friend bool operator==(const Journal&, const Journal&) = default;
};

/// The journal of part `index` of `parts`.
std::string journal_path(const std::string& part_path, std::uint32_t index, std::uint32_t parts);

std::string text_of(const Journal& journal);
/// `corrupt` for a text that is not from text_of().
Result<Journal> journal_from(const std::string& text);

/// If there is no journal, returns one with nothing durable.
Result<Journal> load_journal(sys::Store& store, const std::string& path, std::uint64_t identity);
/// Call it only when the data are durable.
Result<> store_journal(sys::Store& store, const std::string& path, const Journal& journal);

}  // namespace forebay::move
