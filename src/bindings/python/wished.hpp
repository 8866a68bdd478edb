// The common part of both extension modules: the options of a session, and the form of a call that can wait.

#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "forebay/forebay.hpp"

namespace forebay {

/// Options, or the error of reading them: the call that opens with them returns it, on every rank.
struct WishedOptions {
    Result<Options> options;
};

/// Makes the call without the interpreter lock, so that other threads run. If a signal handler raised an exception
/// during it, as at Ctrl-C, it is raised here: python_interrupted() left it with the thread.
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
