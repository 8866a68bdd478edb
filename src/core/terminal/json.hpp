// A JSON value to print: objects keep the order of their keys. Text that is not UTF-8 is printed with replacement
// characters, numbers that JSON lacks (NaN, infinities) as null. Terminal commands are spelled \uXXXX.

#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

class Json {
public:
    static Json object();
    static Json array();

    Json(const std::string& text);
    Json(const char* text) : Json(std::string(text)) {}
    Json(bool yes);
    Json(double number);
    template <std::signed_integral T>
    Json(T number) : Json(Signed{number}) {}
    template <std::unsigned_integral T>
    Json(T number) : Json(Unsigned{number}) {}

    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();

    Json& set(const std::string& key, const Json& value);
    Json& push(const Json& value);
    bool is_empty() const;
    std::string text() const;
    /// The same on one line, for files with one value on each line.
    std::string line() const;
    /// Prints text() and a newline to standard output.
    void print() const;

private:
    struct Signed {
        std::int64_t number;
    };
    struct Unsigned {
        std::uint64_t number;
    };
    struct Tree;

    explicit Json(Signed number);
    explicit Json(Unsigned number);
    explicit Json(std::unique_ptr<Tree> tree);
    /// Below 0: on one line.
    std::string shown(int indent) const;

    std::unique_ptr<Tree> tree_;
};

Json json_of(const Error& error);

}  // namespace forebay::cli
