// Turns exceptions into Errors: at the borders of the library, at the roots of its threads, and before ranks agree. A
// rank that left by an exception would keep the other ranks waiting.

#pragma once

#include <cxxabi.h>

#include <type_traits>
#include <utility>

#include "forebay/result.hpp"

namespace forebay {

/// The exception that is being handled, as an Error.
Error error_of_exception() noexcept;

/// The result of `work`, a Result or nothing; an exception of `work` becomes its Error.
template <class Work>
__attribute__((no_sanitize("undefined")))  // a thread's cancellation is caught by a reference to no object
auto attempt(Work&& work) {
    using Answer = std::invoke_result_t<Work>;
    try {
        if constexpr (std::is_void_v<Answer>) {
            std::forward<Work>(work)();
            return Result<>();
        } else {
            return std::forward<Work>(work)();
        }
    } catch (const abi::__forced_unwind&) {
        throw;  // not an exception: the thread is being cancelled, and nothing may stop that
    } catch (...) {
        if constexpr (std::is_void_v<Answer>) return Result<>(error_of_exception());
        else return Answer(error_of_exception());
    }
}

}  // namespace forebay
