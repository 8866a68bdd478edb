#include "sys/tree_place.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/try.hpp"
#include "sys/daos_address.hpp"

namespace forebay::sys {

namespace {

using OpenFarPlace = void (*)(const FarPlace& place, OpenedPlace& opened);

struct Module {
    std::string_view scheme;
    const char* file;
    const char* reaches;
    const char* next;
};
constexpr std::array<Module, 2> modules{
    {{"s3://", "libforebay_s3.so", "S3",
      "apt-get install libcurl4-openssl-dev libpugixml-dev, and build forebay again"},
     {daos_scheme, "libforebay_daos.so", "DAOS by libdfs",
      "build forebay again where the headers of DAOS are (daos_fs.h), or mount the container by dfuse"}}};

const Module* module_of(std::string_view address) {
    const auto found =
        std::ranges::find_if(modules, [&](const Module& one) { return address.starts_with(one.scheme); });
    return found == modules.end() ? nullptr : &*found;
}

// Modules stay until the process ends: what they made has their code in it.
Result<void*> load(const Module& module) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    void* loaded = ::dlopen(module.file, RTLD_NOW | RTLD_LOCAL);
    auto* entry = loaded == nullptr ? nullptr : ::dlsym(loaded, "forebay_open_far_place");
    if (entry != nullptr) return entry;
    const char* why = ::dlerror();
    return Error{
        ErrorKind::unsupported,
        std::string("this forebay cannot reach ") + module.reaches + ": " + (why == nullptr ? module.file : why), "",
        module.next};
}

Result<std::unique_ptr<Folder>> open_far(const Module& module, const FarPlace& place) {
    FB_TRY_ASSIGN(entry, load(module));
    OpenedPlace opened = Error{ErrorKind::broken, std::string("the module of ") + module.reaches + " gave no answer"};
    reinterpret_cast<OpenFarPlace>(entry)(place, opened);
    return opened;
}

}  // namespace

bool is_far(std::string_view address) { return module_of(address) != nullptr; }

bool is_whole_store(std::string_view address) {
    const auto* module = module_of(address);
    if (module == nullptr) return false;
    auto rest = address.substr(module->scheme.size());
    rest = rest.substr(0, rest.find_last_not_of('/') + 1);
    return std::ranges::count(rest, '/') < (module->scheme == daos_scheme ? 2 : 1);
}

bool has_module_for(std::string_view address) {
    const auto* module = module_of(address);
    return module != nullptr && load(*module).has_value();
}

Result<> make_container(const std::string& address) {
    FB_TRY_ASSIGN(place, daos_place_from(address));
    const auto opened =
        open_far(*module_of(daos_scheme), {.address = address, .owner = new_entry_owner(), .makes_container = true});
    if (opened) return {};
    const bool has_module = has_module_for(daos_scheme);
    return because(opened.error(), "its container is not made: " + opened.error().what, "",
                   has_module ? opened.error().next : daos_create_command(place));
}

Result<std::unique_ptr<Folder>> open_tree(const std::string& address) {
    const auto* module = module_of(address);
    if (module == nullptr) return open_posix_folder(address);
    return open_far(*module, {.address = address, .must_exist = true, .owner = new_entry_owner()});
}

Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address) {
    const auto* module = module_of(address);
    if (module == nullptr) return open_posix_folder(address);
    return open_far(*module, {.address = address, .must_exist = false, .owner = new_entry_owner()});
}

}  // namespace forebay::sys
