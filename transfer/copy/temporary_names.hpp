// Names under which entries are made, until they are whole.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transfer/copy/case_fold_names.hpp"

namespace forebay::tree {

/// The names of one process. A later run between the same places has the same names with another end. The end keeps a
/// process that was given up, and comes back, from publishing an entry of another process.
class TemporaryNames {
public:
    explicit TemporaryNames(std::string prefix = {}, std::string end = {})
        : prefix_(std::move(prefix)), end_(std::move(end)) {}

    std::string name_for(const std::string& name) const;
    bool is_temporary(std::string_view name) const { return name.starts_with(prefix_); }
    /// Which of `leftovers` another process, or an earlier run, has made of this name.
    std::vector<std::string> others_of(const std::string& name, std::span<const std::string> leftovers) const;

private:
    std::string prefix_, end_;
};

/// A name that is given up with its entry unless the entry was published under its own.
class TemporaryName {
public:
    TemporaryName(sys::Folder& folder, std::string name) : folder_(&folder), name_(std::move(name)) {}
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;
    ~TemporaryName() {
        if (!name_.empty()) static_cast<void>(folder_->remove(name_));
    }

    const std::string& name() const { return name_; }
    /// `case_fold_names`: of the folder.
    Result<> publish(const std::string& final_name, CaseFoldNames* case_fold_names = nullptr);
    /// It stays, for a later run.
    void leave() { name_.clear(); }

private:
    sys::Folder* folder_;
    std::string name_;
};

/// The mark's name of a large file, for its temporary name.
std::string parts_name(const std::string& temporary);

}  // namespace forebay::tree
