#include "core/format/toml_section.hpp"

#include <fmt/format.h>

namespace forebay {

TomlSection::~TomlSection() { refuse_unknown(); }

void TomlSection::refuse_unknown() {
    for (const auto& [key, value] : table_.members())
        if (std::ranges::find(known_, key) == known_.end())
            refuse(value, key, fmt::format("is not known. Nearest: '{}'.", nearest(key)));
}

void TomlSection::refuse(TomlValue at, const std::string& key, const std::string& why) {
    fail(at, fmt::format("'{}' {}", full(key), why));
}

void TomlSection::fail(TomlValue at, const std::string& what) {
    if (verdict_) verdict_ = Error{ErrorKind::refused, fmt::format("{}, line {}: {}", path_, at.line(), what)};
}

void TomlSection::text(const char* key, std::string& value) {
    if (auto given = text_at(key)) value = std::move(*given);
}

void TomlSection::flag(const char* key, bool& value) {
    const auto at = any(key);
    if (const auto given = at.flag()) value = *given;
    else if (at.exists()) refuse(key, "must be true or false.");
}

void TomlSection::flag_to(const char* key, const std::string& choice, bool& value) {
    const auto given = text_at(key);
    if (!given) return;
    value = *given == choice;
    if (!value) refuse(key, fmt::format("is \"{}\": \"{}\", or leave it out.", *given, choice));
}

void TomlSection::texts(const char* key, std::vector<std::string>& values) {
    const auto at = any(key);
    if (!at.exists()) return;
    if (!at.is_list()) return refuse(key, "must be a list of texts.");
    for (const auto& entry : at.entries()) {
        if (auto text = entry.text()) values.push_back(std::move(*text));
        else refuse(entry, key, "must be a list of texts.");
    }
}

void TomlSection::seconds(const char* key, std::chrono::milliseconds& value) {
    const auto at = any(key);
    if (!at.exists()) return;
    const auto given = at.real();  // a whole number is allowed too
    if (!given || !(*given >= 0 && *given < 1e9)) refuse(key, "must be a number of seconds, 0 or more.");
    else value = std::chrono::milliseconds(static_cast<std::int64_t>(*given * 1000));
}

void TomlSection::real(const char* key, double& value) {
    const auto at = any(key);
    if (const auto given = at.real()) value = *given;
    else if (at.exists()) refuse(key, "must be a number.");
}

void TomlSection::former(const char* key) {
    const auto at = table_.member(key);
    if (!at.exists()) return;
    const auto written = at.written();
    fail(at, fmt::format("'{}': {} = {} is now {}.", full(key), key, written, describe::said_now(key, written)));
}

TomlValue TomlSection::any(const std::string& key) {
    known_.push_back(key);
    return table_.member(key);
}

TomlValue TomlSection::inner(const std::string& key) {
    const auto at = any(key);
    if (at.is_table()) return at;
    if (at.exists()) refuse(key, "must be a table.");
    return {};
}

std::string TomlSection::full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

std::optional<std::int64_t> TomlSection::whole_at(const char* key) {
    const auto at = any(key);
    auto given = at.whole();
    if (!given && at.exists()) refuse(key, "must be a whole number.");
    return given;
}

std::optional<std::string> TomlSection::text_at(const char* key) {
    const auto at = any(key);
    auto given = at.text();
    if (!given && at.exists()) refuse(key, "must be text.");
    return given;
}

std::string TomlSection::nearest(std::string_view key) const {
    // Similarity: four for each common letter, minus the longer length.
    const auto common = [&](const std::string& other) {
        return static_cast<std::size_t>(
                   std::ranges::count_if(key, [&](char c) { return other.find(c) != std::string::npos; })) *
                   4 -
               std::max(other.size(), key.size());
    };
    return known_.empty() ? "" : full(*std::ranges::max_element(known_, {}, [&](const auto& other) {
        return static_cast<std::ptrdiff_t>(common(other));
    }));
}

}  // namespace forebay
