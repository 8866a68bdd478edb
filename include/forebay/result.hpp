// Result and Error: how every call of Forebay answers.
//
// A Result holds a value or an Error. An Error's kind answers "what should I do now?"; its text says
// what failed, where, what is still safe and the next command. Nothing here prints or throws, except
// value(), which throws Exception with the Error's text when there is no value.

#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace forebay {

enum class ErrorKind {
    retry = 1,    // a passing fault (EIO, ETIMEDOUT, no agent yet): the same call may succeed later
    full,         // no room at a named place: free some, then call again
    missing,      // the named thing does not exist
    corrupt,      // bytes differ from their checksum or their format: use another copy
    refused,      // the caller asked for something that is not allowed: correct the call
    unsupported,  // this build, file version or machine cannot do it
    broken,       // our own mistake: the session is closed, the simulation goes on
};

/// The kind's name as logs and --json print it: "retry", "full", ...
const char* name_of(ErrorKind kind);

struct Error {
    ErrorKind kind = ErrorKind::broken;
    std::string text;
};

class Exception : public std::runtime_error {
public:
    explicit Exception(const Error& error) : std::runtime_error(error.text), kind_(error.kind) {}
    ErrorKind kind() const { return kind_; }

private:
    ErrorKind kind_;
};

template <class T = void>
class [[nodiscard]] Result {
public:
    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return held_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& operator*() { return std::get<0>(held_); }
    const T& operator*() const { return std::get<0>(held_); }
    T* operator->() { return &std::get<0>(held_); }
    const T* operator->() const { return &std::get<0>(held_); }
    const Error& error() const { return std::get<1>(held_); }

    /// Moves the value out; throws Exception when there is none.
    T value() {
        if (!has_value()) throw Exception(error());
        return std::move(std::get<0>(held_));
    }

private:
    std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : held_(std::move(error)) {}

    bool has_value() const { return held_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    const Error& error() const { return std::get<1>(held_); }
    void value() const {
        if (!has_value()) throw Exception(error());
    }

private:
    std::variant<std::monostate, Error> held_;
};

}  // namespace forebay

#define FB_JOIN_(a, b) a##b
#define FB_JOIN(a, b) FB_JOIN_(a, b)

// Evaluates a Result<>; returns its Error from the calling function when it holds one. The names that it uses are
// counted, since the expression may be a function with such lines of its own.
#define FB_TRY(expression) FB_TRY_NAMED_(FB_JOIN(fb_result_, __COUNTER__), expression)
#define FB_TRY_NAMED_(result, expression)                                                               \
    do {                                                                                                \
        if (auto&& result = (expression); !result.has_value()) return ::forebay::Error(result.error()); \
    } while (false)

// Declares `name` from a Result<T>; returns the Error from the calling function when it holds one.
#define FB_TRY_ASSIGN(name, expression) FB_TRY_ASSIGN_NAMED_(FB_JOIN(fb_result_, __COUNTER__), name, expression)
#define FB_TRY_ASSIGN_NAMED_(result, name, expression)                \
    auto result = (expression);                                       \
    if (!result.has_value()) return ::forebay::Error(result.error()); \
    auto name = std::move(*result)
