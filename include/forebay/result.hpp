// Result and Error: the answer of every call of Forebay.
//
// A Result holds a value or an Error. The kind of an Error says how to react. Its parts say what failed and where, what
// is still safe, and the next command. Nothing here prints. Only value() throws: an Exception with the Error, if there
// is no value.

#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace forebay {

enum class ErrorKind {
    retry = 1,    // a passing fault (EIO, ETIMEDOUT, no agent yet): the same call may succeed later
    full,         // no space at the place in the text: free some, then call again
    missing,      // the thing in the text does not exist
    corrupt,      // bytes differ from their checksum or their format: use another copy
    refused,      // the call is not allowed as it is: correct it
    unsupported,  // this build, file version or machine cannot do it
    broken,       // a mistake in Forebay: the session is closed, the simulation continues
};

/// The kind's name in logs and in --json output: "retry", "full", ...
const char* name_of(ErrorKind kind);

/// An error in four parts. The parts hold no "forebay: ", "Safe: " or "Next: ". They need no full stop at the end.
struct Error {
    ErrorKind kind = ErrorKind::broken;
    std::string what{};  // the failure and its place; found and expected
    std::string safe{};  // what is still safe; may be empty
    std::string next{};  // the next command or step; may be empty

    /// The text that all bindings show, one line a part: "forebay: WHAT.", "  Safe: SAFE." and "  Next: NEXT". The last
    /// line has no full stop, since people copy the command in it. Without `safe` and `next` it is the one line
    /// "forebay: WHAT", with a full stop only if `what` has one.
    std::string text() const;
    /// One line for a log or a report: "WHAT. Safe: SAFE. Next: NEXT", without the program's name.
    std::string line() const;
};

/// Adds context to `inner`: keeps its kind and replaces its `what`. The caller quotes `inner.what` in the new text. If
/// you pass `safe` or `next`, they replace the inner texts: the caller knows more, such as the run's path.
Error with_context(Error inner, std::string what, std::string safe = {}, std::string next = {});

/// what() is the Error's text(). Copies share the Error, so that copying never throws.
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

    /// Moves the value out. Throws Exception if there is none.
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
