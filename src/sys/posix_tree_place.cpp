#include "sys/tree_place.hpp"

#include <dlfcn.h>

#include <mutex>

#include "base/try.hpp"

namespace forebay::sys {

namespace {

using OpenFarPlace = void (*)(const FarPlace& place, OpenedPlace& opened);

constexpr const char* module_file = "libforebay_s3.so";

// The module stays until the process ends: what it made has its code in it.
Result<void*> load_module() {
    static std::mutex mutex;
    static void* module = nullptr;
    const std::lock_guard lock(mutex);
    if (module == nullptr) module = ::dlopen(module_file, RTLD_NOW | RTLD_LOCAL);
    auto* entry = module == nullptr ? nullptr : ::dlsym(module, "forebay_open_far_place");
    if (entry != nullptr) return entry;
    const char* why = ::dlerror();
    return Error{ErrorKind::unsupported,
                 std::string("this forebay cannot reach S3: ") + (why == nullptr ? module_file : why), "",
                 "apt-get install libcurl4-openssl-dev libpugixml-dev, and build forebay again"};
}

Result<std::unique_ptr<Folder>> open_far(const std::string& address, bool must_exist) {
    FB_TRY_ASSIGN(entry, load_module());
    OpenedPlace opened = Error{ErrorKind::broken, "the module of S3 gave no answer"};
    reinterpret_cast<OpenFarPlace>(entry)({.address = address, .must_exist = must_exist, .owner = new_entry_owner()},
                                          opened);
    return opened;
}

}  // namespace

bool is_far(std::string_view address) { return address.starts_with("s3://"); }

Result<std::unique_ptr<Folder>> open_tree(const std::string& address) {
    return is_far(address) ? open_far(address, true) : open_posix_folder(address);
}

Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address) {
    return is_far(address) ? open_far(address, false) : open_posix_folder(address);
}

}  // namespace forebay::sys
