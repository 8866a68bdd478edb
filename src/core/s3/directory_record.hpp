// What an object of a run says of a directory: where it has its contents, and what became of contents that were made
// under its key. docs/formats/s3.md, "Runs".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::s3 {

/// The text of the object of this name in a directory, by the key under which the directory is looked for. Where there
/// is none the directory never was renamed.
inline constexpr const char* directory_record_name = ".forebay-directory";
struct DirectoryRecord {
    /// Of the directory that has this name: the prefix of the keys of what is in it.
    enum class Contents {
        here,       // below this very key
        elsewhere,  // below `at`
        none        // no directory has this name
    };
    Contents contents = Contents::here;
    std::string at;
    /// Of the contents below this key: under which key the directory has its name, and which one it is about to get;
    /// empty where it is this very key, and where it is about to get none.
    std::string name, next;

    // All keys are parts of keys, "step-000120/", in the directory that this one is in: a run whose keys somebody gives
    // another prefix stays what it is.

    friend bool operator==(const DirectoryRecord&, const DirectoryRecord&) = default;
};

/// With another `turn` it is another version of the object, whatever it says: servers take versions from the bytes.
std::string encode(const DirectoryRecord& record, std::uint64_t turn);
/// `corrupt` for what is no such text.
Result<DirectoryRecord> directory_record_from(std::string_view text);

}  // namespace forebay::s3
