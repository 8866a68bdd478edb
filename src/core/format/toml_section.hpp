// One table of a configuration: takes known keys and refuses the others, when it ends, with the nearest known one. The
// first error of the whole text is kept.

#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/describe/option_list.hpp"
#include "core/format/toml_value.hpp"

namespace forebay {

class TomlSection {
public:
    /// `name` begins the full names of keys, `path` the texts of errors; `path` and `verdict` must outlive it.
    TomlSection(TomlValue table, std::string name, const std::string& path, Result<>& verdict)
        : table_(table), name_(std::move(name)), path_(path), verdict_(verdict) {}
    ~TomlSection();
    TomlSection(const TomlSection&) = delete;
    TomlSection& operator=(const TomlSection&) = delete;

    void text(const char* key, std::string& value);
    void flag(const char* key, bool& value);
    /// True where the key names the one choice that there is.
    void flag_to(const char* key, const std::string& choice, bool& value);
    void texts(const char* key, std::vector<std::string>& values);
    void seconds(const char* key, std::chrono::milliseconds& value);
    void real(const char* key, double& value);
    template <class T>
    void number(const char* key, T& value, std::int64_t least = 0) {
        const auto given = whole_at(key);
        if (!given) return;
        if (*given < least || !std::in_range<T>(*given))
            refuse(key, "is " + std::to_string(*given) + ": out of range.");
        else value = static_cast<T>(*given);
    }
    template <class Integer>
    void whole(const char* key, Integer& value, const describe::Whole& range) {
        const auto given = whole_at(key);
        if (!given) return;
        const bool is_unset = range.least_is_unset && *given == range.least;
        if (!is_unset && range.has(*given) && std::in_range<Integer>(*given)) value = static_cast<Integer>(*given);
        else refuse(key, "is " + std::to_string(*given) + ", out of range: " + describe::values_of(range) + ".");
    }
    template <class T>
    void choice(const char* key, T& value, const describe::Words<T>& words) {
        const auto given = text_at(key);
        if (!given) return;
        const auto known = std::ranges::find(words.all, *given, &describe::Word<T>::name);
        if (known != words.all.end()) return void(value = known->value);
        std::string list;
        for (const auto& word : words.all) list += (list.empty() ? "\"" : ", \"") + std::string(word.name) + "\"";
        refuse(key, "is \"" + *given + "\": one of " + list + ".");
    }
    template <class T>
    void word(const char* key, T& value, const describe::Text<T>& text) {
        const auto given = text_at(key);
        if (!given) return;
        if (auto parsed = text.parse(*given)) value = *parsed;
        else refuse(key, "is \"" + *given + "\": one of " + text.values + ".");
    }
    /// Refuses a key that there is no more, with what to write instead.
    void former(const char* key);
    /// A value of any kind; nothing when there is none.
    TomlValue any(const std::string& key);
    /// The table below `key`; nothing when there is none.
    TomlValue inner(const std::string& key);
    /// "NAME.KEY"
    std::string full(std::string_view key) const;
    /// The value of `key` is refused: "'NAME.KEY' WHY".
    void refuse(const std::string& key, const std::string& why) { refuse(table_.member(key), key, why); }
    void refuse(TomlValue at, const std::string& key, const std::string& why);
    /// Refuses keys that were not asked for until now, as the end does: before what they may be meant for is missed.
    void refuse_unknown();

private:
    void fail(TomlValue at, const std::string& what);
    std::optional<std::int64_t> whole_at(const char* key);
    std::optional<std::string> text_at(const char* key);
    std::string nearest(std::string_view key) const;

    const TomlValue table_;
    const std::string name_;
    const std::string& path_;
    Result<>& verdict_;
    std::vector<std::string> known_;
};

}  // namespace forebay
