// Reads TOML with typed look-ups that return nothing for an absent or wrong value, and never throw. Hides toml++,
// because it is slow to compile.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay {

/// One value of a TomlText, valid as long as the TomlText. Every question to an empty TomlValue returns nothing.
class TomlValue {
public:
    TomlValue() = default;
    explicit TomlValue(const void* node) : node_(node) {}

    bool exists() const { return node_ != nullptr; }
    bool is_table() const;
    bool is_list() const;
    std::optional<bool> flag() const;
    std::optional<std::int64_t> whole() const;
    std::optional<double> real() const;  // also of a whole number
    std::optional<std::string> text() const;
    TomlValue member(const std::string& key) const;                  // of a table
    std::vector<std::pair<std::string, TomlValue>> members() const;  // of a table, in the order of the text
    std::vector<TomlValue> entries() const;                          // of a list
    std::uint32_t line() const;
    /// Returns the value in the syntax of TOML.
    std::string written() const;

private:
    const void* node_ = nullptr;
};

class TomlText {
public:
    /// `refused`, with the line, if the text is not TOML. `path` is its source.
    static Result<TomlText> parse(const std::string& text, const std::string& path);
    TomlValue root() const { return TomlValue(held_.get()); }

private:
    struct Delete {
        void operator()(void* held) const;
    };
    std::unique_ptr<void, Delete> held_;
};

}  // namespace forebay
