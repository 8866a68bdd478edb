// All readers of foreign texts: of a site's programs, of the kernel, of users' host lists.

#include "insight/advice/preflight/site_texts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/describe/host_list.hpp"
#include "insight/advice/preflight/node_texts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace forebay;
    using namespace forebay::advice;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& ost : read_lfs_df(text))
        if (!(ost.used_share >= 0 && ost.used_share <= 1)) std::abort();
    static_cast<void>(read_lfs_quota(text));
    static_cast<void>(read_pool_query(text));
    static_cast<void>(read_ost_servers(text));
    static_cast<void>(read_meminfo(text));
    if (const auto buddies = read_buddyinfo(text); buddies && buddies->large_bytes > buddies->free_bytes) std::abort();
    const auto mounts = read_mountinfo(text);
    static_cast<void>(mount_of(mounts, text));
    static_cast<void>(read_shared_segments(text));
    static_cast<void>(read_pressure(text));
    static_cast<void>(read_mapped_files(text));
    // Our own form of a list reads back.
    const auto hosts = describe::hosts_of(text);
    if (!hosts || hosts->size() > 2000) return 0;
    const auto again = describe::hosts_of(describe::show_hosts(*hosts));
    if (again && describe::show_hosts(*again) != describe::show_hosts(*hosts)) std::abort();
    return 0;
}
