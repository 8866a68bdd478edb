#include "core/move/journal.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::move {

namespace {

constexpr std::string_view first_line = "forebay export journal 1\n";

/// Takes "NAME NUMBER\n" off the front of `text`.
bool take(std::string_view& text, std::string_view name, int base, std::uint64_t& number) {
    if (!text.starts_with(name)) return false;
    text.remove_prefix(name.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{} || end == text.data() + text.size() || *end != '\n') return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
}

}  // namespace

std::string journal_path(const std::string& part_path, std::uint32_t index, std::uint32_t parts) {
    return parts == 1 ? part_path + ".journal" : fmt::format("{}.journal-{}-of-{}", part_path, index, parts);
}

std::string text_of(const Journal& journal) {
    return fmt::format("{}identity {:016x}\ndurable {}\n", first_line, journal.identity, journal.durable);
}

Result<Journal> journal_from(const std::string& text) {
    std::string_view rest = text;
    Journal journal;
    const bool ours = rest.starts_with(first_line);
    if (ours) rest.remove_prefix(first_line.size());
    // Only the exact text is accepted: "durable 007" is a number too.
    if (!ours || !take(rest, "identity ", 16, journal.identity) || !take(rest, "durable ", 10, journal.durable) ||
        !rest.empty() || text_of(journal) != text)
        return Error{ErrorKind::corrupt, "it is not an export journal of this version"};
    return journal;
}

Result<Journal> load_journal(sys::Store& store, const std::string& path, std::uint64_t identity) {
    FB_TRY_ASSIGN(exists, store.exists(path));
    if (!exists) return Journal{identity, 0};
    FB_TRY_ASSIGN(text, sys::read_text(store, path, limits::page_bytes));
    auto journal = journal_from(text);
    if (journal && journal->identity == identity) return journal;
    return Error{ErrorKind::corrupt,
                 fmt::format("{}: {}", path, journal ? "it belongs to another export" : journal.error().what)};
}

Result<> store_journal(sys::Store& store, const std::string& path, const Journal& journal) {
    return sys::write_text_durable(store, path, text_of(journal));
}

}  // namespace forebay::move
