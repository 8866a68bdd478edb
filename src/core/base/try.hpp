// Errors passed on: the calling function ends with the Error of an expression that holds one. In no public header: the
// names of macros are in no namespace.

#pragma once

#include <utility>

#include "forebay/result.hpp"

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
