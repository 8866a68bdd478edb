#include <filesystem>

#include "sys/far_module.hpp"
#include "sys/program.hpp"

namespace forebay::sys {

namespace {

constexpr const char* module_file = "libforebay_s3.so";

}  // namespace

bool is_far(std::string_view address) { return address.starts_with("s3://"); }

Result<std::string> whole_place(const std::string& place) {
    std::error_code failed;
    auto text = is_far(place) ? place : std::filesystem::absolute(place, failed).lexically_normal().string();
    if (failed) return Error{ErrorKind::refused, "the current directory cannot be told: " + failed.message()};
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

Result<void*> far_function(const char* name) {
    const auto function = function_beside(module_file, name);
    if (function) return function;
    return because(function.error(), "this forebay cannot reach S3: " + function.error().what, "",
                   "apt-get install libcurl4-openssl-dev libpugixml-dev, and build forebay again");
}

}  // namespace forebay::sys
