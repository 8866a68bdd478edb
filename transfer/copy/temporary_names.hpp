// Temporary names for entries until they are complete.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transfer/copy/case_fold_names.hpp"

namespace forebay::tree {

/// The names of one process. A later run between the same places uses the same names with another end. The end keeps a
/// process that was given up and returns from publishing an entry of another process.
class TemporaryNames {
public:
    explicit TemporaryNames(std::string prefix = {}, std::string end = {})
        : prefix_(std::move(prefix)), end_(std::move(end)) {}

    std::string name_for(const std::string& name) const;
    bool is_temporary(std::string_view name) const { return name.starts_with(prefix_); }
    /// The members of `leftovers` that another process or an earlier run made for this name.
    std::vector<std::string> others_of(const std::string& name, std::span<const std::string> leftovers) const;

private:
    std::string prefix_, end_;
};

/// Removes the entry under a temporary name, unless it was published.
class TemporaryName {
public:
    TemporaryName(sys::Folder& folder, std::string name) : folder_(&folder), name_(std::move(name)) {}
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;
    ~TemporaryName() {
        if (!name_.empty()) static_cast<void>(folder_->remove(name_));
    }

    const std::string& name() const { return name_; }
    /// `case_fold_names` belongs to the directory.
    Result<> publish(const std::string& final_name, CaseFoldNames* case_fold_names = nullptr);
    /// Keeps the entry for a later run.
    void leave() { name_.clear(); }

private:
    sys::Folder* folder_;
    std::string name_;
};

/// Name of a large file's journal, by its temporary name.
std::string parts_name(const std::string& temporary);

}  // namespace forebay::tree
