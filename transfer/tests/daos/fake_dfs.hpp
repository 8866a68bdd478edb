// Shared by the parts of the fake libdfs.

#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include <daos.h>

#include <daos_fs.h>

namespace fs = std::filesystem;

struct dfs {
    std::string root;
    bool may_write = false;
};

struct dfs_obj {
    std::string folder, name;
    mode_t mode = 0;
    int flags = 0, fd = -1;
    std::string text = {};
    daos_obj_id_t id = {};

    std::string path() const { return folder + "/" + name; }
};

inline std::atomic<int> open_objects{0};

inline std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The error number that this call must return, or 0.
inline int wished_failure(const std::string& call) {
    std::istringstream all(variable("FAKE_DAOS_FAILS"));
    for (std::string word; std::getline(all, word, ',');)
        if (word.starts_with(call + ":")) return std::stoi(word.substr(call.size() + 1));
    return 0;
}
