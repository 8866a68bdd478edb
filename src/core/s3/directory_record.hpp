// The record of a directory of a run: the place of its contents, and the current name of contents made under its key.
// Format: docs/formats/s3.md, "Runs".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::s3 {

/// The name of the record object below the directory's key. A directory without it was never renamed.
inline constexpr const char* directory_record_name = ".forebay-directory";
struct DirectoryRecord {
    /// The place of the contents of the directory with this name.
    enum class Contents {
        here,       // below this key
        elsewhere,  // below `at`
        none        // no directory has this name
    };
    Contents contents = Contents::here;
    std::string at;
    /// For contents below this key: the key of their directory, and the key to which it is being renamed. Empty: this
    /// key, and no rename.
    std::string name, next;

    // `at`, `name` and `next` are last parts of keys, such as "step-000120/", in the same parent. So a run stays valid
    // if its keys get another prefix.

    friend bool operator==(const DirectoryRecord&, const DirectoryRecord&) = default;
};

/// `turn` makes each version of the object different: servers compute the version from the bytes.
std::string encode(const DirectoryRecord& record, std::uint64_t turn);
/// `corrupt` if the text is not a record.
Result<DirectoryRecord> directory_record_from(std::string_view text);

}  // namespace forebay::s3
