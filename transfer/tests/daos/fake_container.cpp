// A libdfs for tests, over directories: the calls used by core/daos, with the results that the documents and sources of
// DAOS 2.4 to 2.9 describe. It has only files, directories and symbolic links, no sticky bit, no access times and no
// visible holes. It reports neither inodes nor hard links. Attributes belong to the entry's name. An entry opened for
// reading cannot be changed. A rename sets the modification time. Requests with an event are carried out when their
// queue is polled, the last request first. It cannot show more of a real DAOS.

// FAKE_DAOS is a directory with POOL/CONTAINER directories; a link is a second label. Files beside a container make it
// refuse: CONTAINER.only-read, CONTAINER.forbidden, CONTAINER.other-type. CONTAINER.balanced has the mode "balanced".
// CONTAINER.properties gets the properties of its creation. FAKE_DAOS_RANKS is the number of ranks of a pool.
// FAKE_DAOS_FAILS=dfs_write:28,dfs_read:5 makes calls fail with these numbers. FAKE_DAOS_WRITE_MS delays each write.

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "transfer/tests/daos/fake_dfs.hpp"

namespace {

std::atomic<int> started{0};

std::mutex handles_alone;
std::map<std::uint64_t, std::string> handles;  // paths of pools and containers
std::uint64_t last_handle = 0;

int open_handle(const std::string& path, daos_handle_t& handle) {
    const std::lock_guard lock(handles_alone);
    handle.cookie = ++last_handle;
    handles[handle.cookie] = path;
    return 0;
}
int close_handle(daos_handle_t handle) {
    const std::lock_guard lock(handles_alone);
    return handles.erase(handle.cookie) == 1 ? 0 : -DER_INVAL;
}
std::string path_of(daos_handle_t handle) {
    const std::lock_guard lock(handles_alone);
    return handles[handle.cookie];
}

std::uint32_t ranks() {
    const auto number = variable("FAKE_DAOS_RANKS");
    return number.empty() ? 32 : static_cast<std::uint32_t>(std::stoul(number));
}

std::uint32_t ranks_for(daos_oclass_id_t number) {
    static const std::map<daos_oclass_id_t, std::uint32_t> classes{
        {OC_S1, 1},       {OC_SX, 1},       {OC_RP_2G1, 2},    {OC_RP_2GX, 2},    {OC_RP_3G1, 3},
        {OC_EC_2P1GX, 3}, {OC_EC_4P2GX, 6}, {OC_EC_8P2GX, 10}, {OC_EC_16P2GX, 18}};
    const auto match = classes.find(number);
    return match == classes.end() ? 1 : match->second;
}

}  // namespace

int dfs_init(void) {
    ++started;
    return wished_failure("dfs_init");
}

int dfs_fini(void) {
    if (--started == 0 && open_objects != 0)
        std::fprintf(stderr, "fake libdfs: %d objects were never released\n", open_objects.load());
    const std::lock_guard lock(handles_alone);
    if (started == 0 && !handles.empty())
        std::fprintf(stderr, "fake libdfs: %zu pools and containers were never released\n", handles.size());
    return 0;
}

int daos_pool_connect(const char* pool, const char*, unsigned int, daos_handle_t* handle, daos_pool_info_t*,
                      daos_event_t*) {
    if (started == 0) return -DER_INVAL;
    const auto path = variable("FAKE_DAOS") + "/" + pool;
    return fs::is_directory(path) ? open_handle(path, *handle) : -DER_NONEXIST;
}
int daos_pool_disconnect(daos_handle_t handle, daos_event_t*) { return close_handle(handle); }
int daos_pool_query(daos_handle_t, d_rank_list_t**, daos_pool_info_t* info, daos_prop_t*, daos_event_t*) {
    info->pi_nnodes = ranks();
    return 0;
}

daos_prop_t* daos_prop_alloc(uint32_t entries) {
    return new daos_prop_t{.dpp_nr = entries, .dpp_reserv = 0, .dpp_entries = new daos_prop_entry[entries]()};
}
void daos_prop_free(daos_prop_t* properties) {
    if (properties == nullptr) return;
    delete[] properties->dpp_entries;
    delete properties;
}

int daos_cont_open(daos_handle_t pool, const char* container, unsigned int flags, daos_handle_t* handle,
                   daos_cont_info_t*, daos_event_t*) {
    const auto root = path_of(pool) + "/" + container;
    if (!fs::is_directory(root)) return -DER_NONEXIST;
    if (fs::exists(root + ".forbidden") || ((flags & DAOS_COO_RW) != 0 && fs::exists(root + ".only-read")))
        return -DER_NO_PERM;
    return open_handle(fs::canonical(root), *handle);
}
int daos_cont_close(daos_handle_t handle, daos_event_t*) { return close_handle(handle); }
int daos_cont_query(daos_handle_t container, daos_cont_info_t* info, daos_prop_t*, daos_event_t*) {
    struct stat about {};
    if (::stat(path_of(container).c_str(), &about) != 0) return -DER_NONEXIST;
    std::memcpy(info->ci_uuid, &about.st_ino, sizeof about.st_ino);
    return 0;
}

// A class needs a rank for each cell and copy.
int dfs_cont_create_with_label(daos_handle_t pool, const char* label, dfs_attr_t* attributes, uuid_t*, daos_handle_t*,
                               dfs_t**) {
    if (const int failed = wished_failure("dfs_cont_create_with_label")) return failed;
    const auto root = path_of(pool) + "/" + label;
    if (fs::exists(root)) return EEXIST;
    const auto needed = std::max(ranks_for(attributes->da_file_oclass_id), ranks_for(attributes->da_dir_oclass_id));
    if (needed > ranks()) return EINVAL;
    fs::create_directory(root);
    std::ofstream properties(root + ".properties");
    properties << "file " << attributes->da_file_oclass_id << " folder " << attributes->da_dir_oclass_id << " chunk "
               << attributes->da_chunk_size << " ranks " << needed;
    for (uint32_t i = 0; attributes->da_props != nullptr && i < attributes->da_props->dpp_nr; ++i)
        properties << " " << attributes->da_props->dpp_entries[i].dpe_type << "="
                   << attributes->da_props->dpp_entries[i].dpe_val;
    properties << "\n";
    return 0;
}

int dfs_mount(daos_handle_t, daos_handle_t container, int flags, dfs_t** mounted) {
    if (started == 0) return EACCES;
    if (const int failed = wished_failure("dfs_mount")) return failed;
    const auto root = path_of(container);
    if (fs::exists(root + ".other-type")) return EINVAL;
    if (fs::exists(root + ".balanced") && (flags & DFS_BALANCED) == 0) return EPERM;
    *mounted = new dfs_t{root, (flags & O_ACCMODE) == O_RDWR};
    return 0;
}
int dfs_umount(dfs_t* dfs) {
    delete dfs;
    return 0;
}
int dfs_sync(dfs_t* dfs) { return dfs->may_write ? wished_failure("dfs_sync") : EPERM; }
