// The names that a listing of a directory returned, up to a limit. Beyond the limit names are forgotten, and the caller
// must look up each name.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/s3/answers.hpp"
#include "core/sys/tree.hpp"

namespace forebay::s3 {

struct ListedEntry {
    std::string name;
    sys::EntryKind kind = sys::EntryKind::unknown;
    std::optional<std::uint64_t> bytes{};  // the size of an object
};

class ListedNames {
public:
    /// About 30 MB for each open directory.
    static constexpr std::size_t usual_max = 1u << 18;
    explicit ListedNames(std::size_t names_max = usual_max) : names_max_(names_max) {}

    /// Adds a page of the listing of `prefix` and returns its entries. `refuse` gets each key, and each common prefix
    /// of keys, that is not an entry name.
    struct Refused {
        std::string_view key;
        bool is_beginning = false;  // a common prefix of keys
        bool is_twice = false;      // an object also has this name
        std::string why() const;
    };
    using RefusedTaker = std::function<void(const Refused&)>;
    std::vector<ListedEntry> add(const KeyPage& page, const std::string& prefix, const RefusedTaker& refuse);

    /// All pages were added: a name that is not known does not exist.
    bool is_complete() const { return is_complete_ && has_all_; }
    /// Returns true if no name was forgotten.
    bool has_all() const { return has_all_; }
    bool knows(const std::string& name) const { return kinds_.contains(name); }
    bool is_folder(const std::string& name) const;
    /// Returns true if the listing gave it at most Bucket::first_bytes_max bytes.
    bool is_small(const std::string& name) const;
    /// Returns the upload of a mark as an entry, or nothing if an object has this name.
    std::optional<ListedEntry> add_upload(const std::string& mark);
    bool is_upload(const std::string& name) const;
    void put(const std::string& name, sys::EntryKind kind);
    void drop(const std::string& name) { kinds_.erase(name); }

private:
    void forget_before(std::string_view last);

    struct Known {
        sys::EntryKind kind;
        bool is_small = false, is_upload = false;
    };
    std::unordered_map<std::string, Known> kinds_;
    std::size_t names_max_;
    bool is_complete_ = false, has_all_ = true;
};

/// Tests the name only. A mark is called ".fb-XXXXXXXX-0123456789abcdef.parts"; a worker's mark has the worker's suffix
/// before ".parts". Without ".parts" it is the name of the upload. Other objects may have such names: see
/// MadeObject::is_mark.
bool is_mark(std::string_view name);
bool is_temporary_of_mark(std::string_view name);

}  // namespace forebay::s3
