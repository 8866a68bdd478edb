#include "core/sys/target_list.hpp"

#include "core/base/error_text.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/sys/store.hpp"

namespace forebay::sys {

Result<std::vector<std::uint32_t>> target_list(const std::string& text, const std::string& option) {
    constexpr std::uint64_t file_bytes_max = 4u << 20;
    if (!text.starts_with('@')) return describe::parse_storage_targets(text, option);
    const auto path = text.substr(1);
    const auto names = read_text(posix_store(), path, file_bytes_max);
    if (!names) return with_context(names.error(), option + ": " + names.error().what);
    return describe::parse_storage_targets(*names, path);
}

}  // namespace forebay::sys
