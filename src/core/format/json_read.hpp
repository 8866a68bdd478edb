// Reads JSON with typed look-ups that return nothing for an absent or wrong value, and never throw. Hides
// nlohmann-json, because it is slow to compile.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::format::json {

/// One value of a Document, valid as long as the Document. Every question to an empty Value returns nothing.
class Value {
public:
    Value() = default;
    explicit Value(const void* at) : at_(at) {}

    bool exists() const { return at_ != nullptr; }
    bool is_null() const;
    Value member(const char* key) const;         // of an object
    std::optional<std::size_t> members() const;  // the number of members of an object
    std::optional<std::size_t> list() const;     // the number of entries of a list
    Value entry(std::size_t index) const;        // of a list

    std::optional<std::uint64_t> u64(std::uint64_t max = UINT64_MAX) const;
    std::optional<std::int64_t> i64() const;
    std::optional<bool> flag() const;
    std::optional<double> f64() const;  // a number, or "nan", "inf", "-inf"
    std::optional<std::string> text() const;
    std::optional<Extents> extents() const;  // a list of at most dims_max numbers

private:
    const void* at_ = nullptr;
};

class Document {
public:
    /// Returns nothing if the text is not JSON.
    static std::optional<Document> parse(std::string_view text);
    Value root() const { return Value(held_.get()); }

private:
    struct Delete {
        void operator()(void* held) const;
    };
    std::unique_ptr<void, Delete> held_;
};

}  // namespace forebay::format::json
