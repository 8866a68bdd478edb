// What both extension modules know: the options of a session, and how a call that can wait is made.

#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "forebay/forebay.hpp"

namespace forebay {

/// Options, or why there are none: the call that opens with them tells it, on every rank.
struct WishedOptions {
    Result<Options> options;
};

/// Makes the call without the interpreter, which other threads have meanwhile. A signal handler that has raised in it,
/// as at Ctrl-C, raises here: python_interrupted() has left that with the thread.
template <class Call>
auto waiting(Call&& call) {
    auto answer = [&] {
        const nanobind::gil_scoped_release released;
        return call();
    }();
    if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
    return std::move(answer).value();
}

}  // namespace forebay
