// What is thrown becomes an Error: at the borders of the library, at the roots of its threads, and before ranks agree,
// since one that leaves by an exception would be waited for by the others.

#pragma once

#include <cxxabi.h>

#include <type_traits>
#include <utility>

#include "forebay/result.hpp"

namespace forebay {

/// The exception that is being handled, as an Error.
Error error_of_exception() noexcept;

/// What `work` answers, which is a Result or nothing; what it throws is its Error.
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
        throw;  // no exception: the thread is being cancelled, which nothing may stop
    } catch (...) {
        if constexpr (std::is_void_v<Answer>) return Result<>(error_of_exception());
        else return Answer(error_of_exception());
    }
}

}  // namespace forebay
