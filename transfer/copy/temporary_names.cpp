#include "transfer/copy/temporary_names.hpp"

#include <fmt/format.h>

#include "core/base/siphash.hpp"
#include "transfer/copy/entry_log.hpp"

namespace forebay::tree {

std::string TemporaryNames::name_for(const std::string& name) const {
    return fmt::format("{}{:016x}{}", prefix_, siphash({}, std::as_bytes(std::span(name))), end_);
}

std::vector<std::string> TemporaryNames::others_of(const std::string& name,
                                                   std::span<const std::string> leftovers) const {
    const auto own = name_for(name);
    const auto common = own.substr(0, own.size() - end_.size());
    std::vector<std::string> others;
    for (const auto& leftover : leftovers)
        if (leftover.starts_with(common) && leftover != own && leftover.find('.', common.size()) == leftover.npos)
            others.push_back(leftover);
    return others;
}

Result<> TemporaryName::publish(const std::string& final_name, CaseFoldNames* case_fold_names) {
    const auto renamed = case_fold_names != nullptr ? case_fold_names->rename(*folder_, name_, final_name)
                                                    : folder_->rename(name_, final_name);
    if (!renamed) return of_target(renamed.error());
    name_.clear();
    return {};
}

std::string parts_name(const std::string& temporary) { return temporary + ".parts"; }

}  // namespace forebay::tree
