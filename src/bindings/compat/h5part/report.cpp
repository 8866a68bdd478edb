#include "bindings/compat/h5part/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "bindings/compat/made/making.hpp"
#include "core/base/show_text.hpp"

namespace forebay::h5part {

namespace {

struct Reporting {
    h5part_error_handler handler = H5PartReportErrorHandler;
    h5part_int64_t code = H5PART_SUCCESS;
    // H5Part is silent by default. Errors about output must not be.
    h5part_int64_t verbosity = H5PART_VERB_ERROR;
    bool is_first_rank = true;
};

Reporting& reporting() {
    static Reporting reporting;
    return reporting;
}

void print(const char* prefix, const char* function, const std::string& text) {
    std::fputs(fmt::format("{}: {}: {}\n", prefix, function, show_message(text)).c_str(), stderr);
}

std::string filled(const char* format, std::va_list arguments) {
    std::va_list again;
    va_copy(again, arguments);
    const int bytes = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(static_cast<std::size_t>(std::max(bytes, 0)) + 1, '\0');  // with room for the NUL
    std::vsnprintf(text.data(), text.size(), format, arguments);
    text.pop_back();
    return text;
}

}  // namespace

h5part_int64_t code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::refused: return H5PART_ERR_INVAL;
        case ErrorKind::missing: return H5PART_ERR_NOENTRY;
        case ErrorKind::full: return H5PART_ERR_NOMEM;
        case ErrorKind::unsupported: return H5PART_ERR_NOTYPE;
        default: return H5PART_ERR_HDF5;
    }
}

h5part_int64_t fail(const char* function, h5part_int64_t code, const Error& error) {
    reporting().code = code;
    return reporting().handler(function, code, "%s", error.text().c_str());
}

Error refused_particles(std::int64_t count) {
    if (count <= 0) return {ErrorKind::refused, fmt::format("{} particles are refused.", count)};
    return {ErrorKind::refused, "another rank's number of particles is negative, which is refused."};
}

void warn(const char* function, const std::string& text) {
    if (reporting().verbosity < H5PART_VERB_WARN || !reporting().is_first_rank) return;
    print("W", function, text);
}

void warn_of_no_locks(const char* function, const std::string& file) {
    if (reporting().verbosity < H5PART_VERB_ERROR || !reporting().is_first_rank) return;
    static std::once_flag warned;
    std::call_once(warned, [&] {
        std::fputs(fmt::format("W: {}: {}\n", function, made::warning_of_no_locks(file)).c_str(), stderr);
    });
}

void say_as_first_rank(bool is_first) { reporting().is_first_rank = is_first; }

}  // namespace forebay::h5part

using forebay::h5part::reporting;

extern "C" {

h5part_int64_t H5PartSetVerbosityLevel(const h5part_int64_t level) {
    reporting().verbosity = level;
    return H5PART_SUCCESS;
}

h5part_int64_t H5PartSetErrorHandler(const h5part_error_handler handler) {
    reporting().handler = handler != nullptr ? handler : H5PartReportErrorHandler;
    return H5PART_SUCCESS;
}

h5part_error_handler H5PartGetErrorHandler(void) { return reporting().handler; }

h5part_int64_t H5PartGetErrno(void) { return reporting().code; }

h5part_int64_t H5PartReportErrorHandler(const char* funcname, const h5part_int64_t eno, const char* fmt, ...) {
    reporting().code = eno;
    if (reporting().verbosity >= H5PART_VERB_ERROR && reporting().is_first_rank) {
        std::va_list arguments;
        va_start(arguments, fmt);
        forebay::h5part::print("E", funcname, forebay::h5part::filled(fmt, arguments));
        va_end(arguments);
    }
    return eno;
}

h5part_int64_t H5PartAbortErrorHandler(const char* funcname, const h5part_int64_t eno, const char* fmt, ...) {
    reporting().code = eno;
    if (reporting().verbosity >= H5PART_VERB_ERROR) {
        std::va_list arguments;
        va_start(arguments, fmt);
        forebay::h5part::print("E", funcname, forebay::h5part::filled(fmt, arguments));
        va_end(arguments);
    }
    std::exit(static_cast<int>(eno));  // NOLINT(concurrency-mt-unsafe): what the handler of this name does
}

}  // extern "C"
