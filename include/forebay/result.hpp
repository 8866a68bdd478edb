// Result and Error: how every call of Forebay answers.
//
// A Result holds a value or an Error. An Error's kind answers "what should I do now?"; its parts say
// what failed and where, what is still safe, and the next command. Nothing here prints or throws, except
// value(), which throws Exception with the Error when there is no value.

#pragma once

#include <memory>
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

/// The parts name neither the program nor each other: no "forebay: ", no "Safe: ", no "Next: " is in them. They
/// need no full stop at their end.
struct Error {
    ErrorKind kind = ErrorKind::broken;
    std::string what{};  // the failure and its place; found and expected
    std::string safe{};  // things that are still safe; may be empty
    std::string next{};  // the next command or step; may be empty

    /// As every binding gives it to people, a line a part: "forebay: WHAT.", "  Safe: SAFE." and "  Next: NEXT", which
    /// has
    /// no full stop since it often ends in a command that people copy. Without `safe` and `next` it is one line,
    /// "forebay: WHAT", with a full stop only where `what` has one.
    std::string text() const;
    /// For a line of a log or a report: "WHAT. Safe: SAFE. Next: NEXT", without the program's name.
    std::string line() const;
};

/// The error that `inner` becomes one level up: its kind with a new `what`, in which the caller quotes `inner.what`.
/// Advice that the caller gives takes the place of the inner one: the caller knows more, the run's path for example.
Error with_context(Error inner, std::string what, std::string safe = {}, std::string next = {});

/// what() is the Error's text(). A copy shares the Error, so that copying throws nothing.
class Exception : public std::runtime_error {
public:
    explicit Exception(Error error)
        : std::runtime_error(error.text()), error_(std::make_shared<const Error>(std::move(error))) {}
    ErrorKind kind() const { return error_->kind; }
    const Error& error() const { return *error_; }

private:
    std::shared_ptr<const Error> error_;
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
