#include "core/sys/far_module.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/program.hpp"

namespace forebay::sys {

namespace {

struct FarModule {
    std::string_view scheme;
    const char* file;
    const char* reaches;
    const char* next;
    int parts_of_store;  // path parts behind the scheme that make up the store
    bool has_directories, is_written_by_stretches;
};
constexpr std::array<FarModule, 2> modules{
    {{"s3://", "libforebay_s3.so", "S3", "apt-get install libcurl4-openssl-dev libpugixml-dev, and build forebay again",
      1, false, false},
     {daos_scheme, "libforebay_daos.so", "DAOS by libdfs",
      "put the directory of libdfs.so into LD_LIBRARY_PATH. If this build has no such module, build forebay again on a "
      "machine with the headers of DAOS (daos_fs.h), or mount the container with dfuse",
      2, true, true}}};

constexpr std::array<const char*, 9> settings{
    "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_REGION",          "AWS_DEFAULT_REGION",  "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE", "AWS_NO_SIGN_REQUEST", "AWS_MAX_ATTEMPTS"};

const FarModule* module_of(std::string_view address) {
    const auto match =
        std::ranges::find_if(modules, [&](const FarModule& known) { return address.starts_with(known.scheme); });
    return match == modules.end() ? nullptr : &*match;
}

}  // namespace

bool is_far(std::string_view address) { return module_of(address) != nullptr; }

bool is_whole_store(std::string_view address) {
    const auto* module = module_of(address);
    if (module == nullptr) return false;
    auto rest = address.substr(module->scheme.size());
    rest = rest.substr(0, rest.find_last_not_of('/') + 1);
    return std::ranges::count(rest, '/') < module->parts_of_store;
}

std::string store_of(std::string_view address) {
    const auto* module = module_of(address);
    auto end = module == nullptr ? 0 : module->scheme.size();
    for (int part = 0; module != nullptr && part < module->parts_of_store && end < address.size(); ++part)
        end = std::min(address.find('/', end + (part > 0 ? 1 : 0)), address.size());
    return std::string(address.substr(0, end));
}

bool has_directories(std::string_view place) {
    const auto* module = module_of(place);
    return module == nullptr || module->has_directories;
}

bool nodes_can_share(std::string_view place) {
    const auto* module = module_of(place);
    return module == nullptr || module->is_written_by_stretches;
}

Result<> check_address(std::string_view place) {
    const auto colon = place.find(':');
    // A slash before the colon makes it a path, such as "./host:path".
    if (is_far(place) || colon == place.npos || colon == 0 || place.find('/') < colon) return {};
    std::string scheme(place.substr(0, colon));
    std::ranges::transform(scheme, scheme.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto rest = place.substr(std::min(place.find_first_not_of('/', colon + 1), place.size()));
    auto next = "./" + std::string(place) + ", if you mean a directory of that name";
    if (is_far(scheme + "://")) next = scheme + "://" + std::string(rest);
    if (scheme == "file") next = "/" + std::string(rest);
    return Error{ErrorKind::refused,
                 show_text(place) +
                     " is not a valid place. Use a path, s3://BUCKET/PREFIX or daos://POOL/CONTAINER/PATH. To reach "
                     "another host, use a shared file system or S3",
                 "nothing was changed", show_text(next)};
}

Result<std::string> whole_place(const std::string& place) {
    // "s3:/bucket" is a mistyped address, not a directory.
    if (place.substr(0, place.find('/')).ends_with(':')) FB_TRY(check_address(place));
    std::error_code failed;
    auto text = is_far(place) ? place : std::filesystem::absolute(place, failed).lexically_normal().string();
    if (failed)
        return Error{ErrorKind::refused, "the current directory is unknown: " + failed.message(), "",
                     "give an absolute path"};
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

std::string told_settings() {
    std::string lines;
    for (const auto* name : settings)
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
            lines += std::string(name) + "=" + value + "\n";
    return lines;
}

void take_settings(const std::string& lines) {
    for (std::string_view rest = lines; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto equals = std::min(line.find('='), line.size());
        const auto known = std::ranges::find(settings, line.substr(0, equals));
        if (known == settings.end() || equals == line.size()) continue;
        ::setenv(*known, std::string(line.substr(equals + 1)).c_str(), 1);
    }
}

Result<void*> far_function(std::string_view address, const char* name) {
    const auto* module = module_of(address);
    if (module == nullptr) return Error{ErrorKind::broken, std::string(address) + " is not an address"};
    const auto function = function_beside(module->file, name);
    if (function) return function;
    return Error{ErrorKind::unsupported,
                 std::string("this forebay cannot reach ") + module->reaches + ": " + function.error().what,
                 "nothing was changed", module->next};
}

}  // namespace forebay::sys
