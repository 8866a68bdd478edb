// Macros that pass errors on: if an expression holds an Error, the calling function returns it. They are in no public
// header, because macros have no namespace.

#pragma once

#include <utility>

#include "forebay/result.hpp"

#define FB_JOIN_(a, b) a##b
#define FB_JOIN(a, b) FB_JOIN_(a, b)

// Evaluates a Result<>; if it holds an Error, returns that from the calling function. The names inside are numbered,
// because the expression may be a function with such lines too.
#define FB_TRY(expression) FB_TRY_NAMED_(FB_JOIN(fb_result_, __COUNTER__), expression)
#define FB_TRY_NAMED_(result, expression)                                                               \
    do {                                                                                                \
        if (auto&& result = (expression); !result.has_value()) return ::forebay::Error(result.error()); \
    } while (false)

// Declares `name` from a Result<T>; if that holds an Error, returns it from the calling function.
#define FB_TRY_ASSIGN(name, expression) FB_TRY_ASSIGN_NAMED_(FB_JOIN(fb_result_, __COUNTER__), name, expression)
#define FB_TRY_ASSIGN_NAMED_(result, name, expression)                \
    auto result = (expression);                                       \
    if (!result.has_value()) return ::forebay::Error(result.error()); \
    auto name = std::move(*result)
