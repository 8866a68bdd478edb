// How a call of H5Part answers: its codes, its error handler, its verbosity. H5Part has one of each in a process.

#pragma once

#include <forebay/h5part/H5Part.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "forebay/result.hpp"

namespace forebay::h5part {

/// refused: -22; missing: -201; full: -12; unsupported: -210, a type that H5Part has not; all else: -400.
h5part_int64_t code_of(ErrorKind kind);

/// Tells the handler; what it returns, the call returns.
h5part_int64_t fail(const char* function, h5part_int64_t code, const Error& error);

/// Of this rank's count, or of another's where this one is good.
Error refused_particles(std::int64_t count);

/// On standard error from H5PART_VERB_WARN on, by the first rank alone.
void warn(const char* function, const std::string& text);
/// Once in a process, by the first rank: that the file system of `file` has no locks. From H5PART_VERB_ERROR on, since
/// it is about what other programs may do to the file.
void warn_of_no_locks(const char* function, const std::string& file);
void say_as_first_rank(bool is_first);

/// Calls `body`, which returns a Result of what the call answers; no exception crosses the border.
template <class Body>
h5part_int64_t guarded(const char* function, Body&& body) {
    Error error;
    try {
        const Result<h5part_int64_t> answer = body();
        if (answer) return *answer;
        error = answer.error();
    } catch (const std::bad_alloc&) {
        error = {ErrorKind::full, "this process has no more memory."};
    } catch (const Exception& thrown) {
        error = thrown.error();
    } catch (const std::exception& thrown) {
        error = {ErrorKind::broken, thrown.what()};
    }
    return fail(function, code_of(error.kind), error);
}

}  // namespace forebay::h5part
