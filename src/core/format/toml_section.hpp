// One table of a configuration. The caller takes the known keys. The destructor refuses all other keys, with the
// nearest known key. The first error of the whole text is kept.

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
    /// `name` begins the full names of keys, `path` the texts of errors. `path` and `verdict` must outlive it.
    TomlSection(TomlValue table, std::string name, const std::string& path, Result<>& verdict)
        : table_(table), name_(std::move(name)), path_(path), verdict_(verdict) {}
    ~TomlSection();
    TomlSection(const TomlSection&) = delete;
    TomlSection& operator=(const TomlSection&) = delete;

    void text(const char* key, std::string& value);
    void flag(const char* key, bool& value);
    /// Sets true if the key has the only allowed word.
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
    /// Refuses a key of earlier versions, with its replacement.
    void former(const char* key);
    /// Returns a value of any type, or an empty value.
    TomlValue any(const std::string& key);
    /// Returns the table below `key`, or an empty value.
    TomlValue inner(const std::string& key);
    /// Returns "NAME.KEY".
    std::string full(std::string_view key) const;
    /// Refuses the value of `key`: "'NAME.KEY' WHY".
    void refuse(const std::string& key, const std::string& why) { refuse(table_.member(key), key, why); }
    void refuse(TomlValue at, const std::string& key, const std::string& why);
    /// Refuses the keys not taken until now, like the destructor. Call it before a check that would report a missing
    /// key: an unknown key may be its misspelling.
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
