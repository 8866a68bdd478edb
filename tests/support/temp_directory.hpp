// A private directory. The destructor removes it with its contents.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"

namespace forebay::test {

class TempDirectory {
public:
    /// Below the system's directory for temporary files, or below `parent`, such as "/dev/shm" for memory.
    explicit TempDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
        : path_(parent /
                ("forebay-test-" + std::to_string(sys::process_id()) + "-" + std::to_string(sys::random_u64()))) {
        std::filesystem::create_directory(path_);
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    }
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;
    ~TempDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string path() const { return path_.string(); }
    std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace forebay::test
