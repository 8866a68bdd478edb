// The names of a folder, as its listing tells them, up to a number: beyond they are forgotten, and asked for one by
// one.

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
    std::optional<std::uint64_t> bytes{};  // of an object
};

class ListedNames {
public:
    /// Some 30 MB for each folder that is open.
    static constexpr std::size_t usual_max = 1u << 18;
    explicit ListedNames(std::size_t names_max = usual_max) : names_max_(names_max) {}

    /// Takes a page of the listing of `prefix`, and gives its names. `refuse` gets each key that is no name of an
    /// entry, and each beginning of keys that is none.
    struct Refused {
        std::string_view key;
        bool is_beginning = false;  // of other keys
        bool is_twice = false;      // an object has this name, too
        std::string why() const;
    };
    using RefusedTaker = std::function<void(const Refused&)>;
    std::vector<ListedEntry> add(const KeyPage& page, const std::string& prefix, const RefusedTaker& refuse);

    /// All pages were added: what is not known is not there.
    bool is_complete() const { return is_complete_ && has_all_; }
    /// Nothing that was added or put was forgotten.
    bool has_all() const { return has_all_; }
    bool knows(const std::string& name) const { return kinds_.contains(name); }
    bool is_folder(const std::string& name) const;
    /// Its listing says that it is an object of at most Bucket::first_bytes_max.
    bool is_small(const std::string& name) const;
    /// The upload that a mark speaks of, as an entry; nothing where an object has that name.
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

/// ".fb-XXXXXXXX-0123456789abcdef.parts" is the name of an upload's mark, that of a worker's has its end before the
/// dot; without ".parts" it stands for the upload itself. Objects of others may have such names: MadeObject::is_mark.
bool is_mark(std::string_view name);
bool is_temporary_of_mark(std::string_view name);

}  // namespace forebay::s3
