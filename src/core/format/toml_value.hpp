// Reading TOML: typed look-ups that tell a right value from an absent or wrong one, and never throw. Hides toml++,
// which is slow to compile.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay {

/// One value of a TomlText, valid as long as that; or nothing, of which every question answers no.
class TomlValue {
public:
    TomlValue() = default;
    explicit TomlValue(const void* node) : node_(node) {}

    bool exists() const { return node_ != nullptr; }
    bool is_table() const;
    bool is_list() const;
    std::optional<bool> flag() const;
    std::optional<std::int64_t> whole() const;
    std::optional<double> real() const;  // of a whole number too
    std::optional<std::string> text() const;
    TomlValue member(const std::string& key) const;                  // of a table
    std::vector<std::pair<std::string, TomlValue>> members() const;  // of a table, by their order in the text
    std::vector<TomlValue> entries() const;                          // of a list
    std::uint32_t line() const;
    /// As TOML writes it.
    std::string written() const;

private:
    const void* node_ = nullptr;
};

class TomlText {
public:
    /// `refused`, with the line named, for what is no TOML; `path` is where it comes from.
    static Result<TomlText> parse(const std::string& text, const std::string& path);
    TomlValue root() const { return TomlValue(held_.get()); }

private:
    struct Delete {
        void operator()(void* held) const;
    };
    std::unique_ptr<void, Delete> held_;
};

}  // namespace forebay
