#include <fmt/format.h>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/dfuse.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/machine.hpp"

namespace forebay::sys {

namespace {

constexpr std::chrono::seconds room_back{30};

// The last parts of the path need not exist.
bool is_on_dfuse(std::string path) {
    auto mount = mount_of(path);
    while (mount.empty() && path != "/" && path != ".") mount = mount_of(path = directory_of(path));
    return mount.starts_with(std::string(dfuse_kind) + " ");
}

}  // namespace

Result<> check_preloaded_for_run(const std::string& run) {
    if (environment_value("LD_PRELOAD").find("libpil4dfs") == std::string::npos) return {};
    const auto compatible = environment_value("D_IL_COMPATIBLE");
    if ((compatible != "1" && compatible != "true") || is_far(run) || !is_on_dfuse(run)) return {};
    return Error{ErrorKind::unsupported,
                 fmt::format("{}: this process preloads libpil4dfs.so with D_IL_COMPATIBLE={}. Commits on dfuse would "
                             "fail",
                             show_text(run), compatible),
                 "nothing was written", "unset D_IL_COMPATIBLE, or unset LD_PRELOAD"};
}

std::chrono::milliseconds room_comes_back_after(const std::string& target) {
    const bool is_daos = is_far(target) ? target.starts_with(daos_scheme) : is_on_dfuse(target);
    return is_daos ? room_back : std::chrono::milliseconds{0};
}

}  // namespace forebay::sys
