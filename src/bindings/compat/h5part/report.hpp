// The answers of H5Part's calls: codes, error handler, verbosity. H5Part has one of each in a process.

#pragma once

#include <forebay/h5part/H5Part.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "forebay/result.hpp"

namespace forebay::h5part {

/// refused: -22; missing: -201; full: -12; unsupported: -210, for a type that H5Part does not have; all else: -400.
h5part_int64_t code_of(ErrorKind kind);

/// Calls the handler, and returns its result, which the failing call returns too.
h5part_int64_t fail(const char* function, h5part_int64_t code, const Error& error);

/// The error about this rank's count, or about another rank's count if this count is good.
Error refused_particles(std::int64_t count);

/// Prints to standard error if the verbosity is H5PART_VERB_WARN or more, only on the first rank.
void warn(const char* function, const std::string& text);
/// Warns once in a process, on the first rank, that the file system of `file` has no locks. Prints from
/// H5PART_VERB_ERROR on, since other programs may then damage the file.
void warn_of_no_locks(const char* function, const std::string& file);
void say_as_first_rank(bool is_first);

/// Calls `body`, which returns a Result with the call's answer. No exception gets out.
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
