#include "core/base/attempt.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <system_error>

namespace forebay {

namespace {

ErrorKind kind_of(const std::error_code& code) {
    for (const auto no_more : {std::errc::not_enough_memory, std::errc::too_many_files_open,
                               std::errc::too_many_files_open_in_system, std::errc::no_space_on_device})
        if (code == no_more) return ErrorKind::full;
    return code == std::errc::resource_unavailable_try_again ? ErrorKind::retry : ErrorKind::broken;
}

Error error_of_thrown() {
    try {
        throw;
    } catch (const Exception& thrown) {
        return thrown.error();
    } catch (const std::bad_alloc&) {
        return {ErrorKind::full, "this process has no more memory", "all committed and staged data",
                "give it more memory (ulimit -v, the limits of the job), then call again"};
    } catch (const std::system_error& thrown) {
        return {kind_of(thrown.code()), thrown.what(), "all committed and staged data"};
    } catch (const std::exception& thrown) {
        return {ErrorKind::broken, fmt::format("unexpected: {}", thrown.what()), "all committed and staged data",
                "please report it"};
    } catch (...) {
        return {ErrorKind::broken, "an exception that is not a std::exception was thrown",
                "all committed and staged data",
                "find the code that throws it, perhaps a log function of the application"};
    }
}

}  // namespace

Error error_of_exception() noexcept {
    try {
        return error_of_thrown();
    } catch (...) {
        return {ErrorKind::full, "no more memory"};  // short enough to need no memory
    }
}

}  // namespace forebay
