// A libdfs for tests, over directories: the calls used by transfer/daos, with the results that the documents and
// sources of DAOS 2.4 to 2.9 describe. It has only files, directories and symbolic links, no sticky bit, no access
// times and no visible holes. It reports neither inodes nor hard links. Attributes belong to the entry's name. An entry
// opened for reading cannot be changed. It cannot show more of a real DAOS.

// FAKE_DAOS is a directory with POOL/CONTAINER directories; a link is a second label. Files beside a container make it
// refuse: CONTAINER.only-read, CONTAINER.forbidden, CONTAINER.other-type. CONTAINER.properties gets the properties of
// its creation. FAKE_DAOS_FAILS=dfs_write:28,dfs_read:5 makes calls fail with these numbers.

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "transfer/tests/daos/fake_dfs.hpp"

namespace {

std::atomic<int> started{0};

}  // namespace

int dfs_init(void) {
    ++started;
    return wished_failure("dfs_init");
}

int dfs_fini(void) {
    if (--started == 0 && open_objects != 0)
        std::fprintf(stderr, "fake libdfs: %d objects were never released\n", open_objects.load());
    return 0;
}

int daos_pool_connect(const char* pool, const char*, unsigned int, daos_handle_t* handle, daos_pool_info_t*,
                      daos_event_t*) {
    *handle = {1};
    return fs::is_directory(variable("FAKE_DAOS") + "/" + pool) ? 0 : -1005;  // -DER_NONEXIST
}
int daos_pool_disconnect(daos_handle_t, daos_event_t*) { return 0; }

daos_prop_t* daos_prop_alloc(uint32_t entries) {
    return new daos_prop_t{.dpp_nr = entries, .dpp_reserv = 0, .dpp_entries = new daos_prop_entry[entries]()};
}
void daos_prop_free(daos_prop_t* properties) {
    if (properties == nullptr) return;
    delete[] properties->dpp_entries;
    delete properties;
}

int dfs_connect(const char* pool, const char*, const char* container, int flags, dfs_attr_t* attributes,
                dfs_t** connected) {
    if (started == 0) return EACCES;
    if (const int failed = wished_failure("dfs_connect")) return failed;
    const auto top = variable("FAKE_DAOS") + "/" + pool, root = top + "/" + container;
    const bool may_write = (flags & O_ACCMODE) == O_RDWR;
    if (!fs::is_directory(top)) return ENOENT;
    if (!fs::is_directory(root)) {
        if ((flags & O_CREAT) == 0) return ENOENT;
        fs::create_directory(root);
        std::ofstream properties(root + ".properties");
        if (attributes != nullptr) {
            properties << "file " << attributes->da_file_oclass_id << " folder " << attributes->da_dir_oclass_id
                       << " chunk " << attributes->da_chunk_size;
            for (uint32_t i = 0; attributes->da_props != nullptr && i < attributes->da_props->dpp_nr; ++i)
                properties << " " << attributes->da_props->dpp_entries[i].dpe_type << "="
                           << attributes->da_props->dpp_entries[i].dpe_val;
        }
        properties << "\n";
    }
    if (fs::exists(root + ".forbidden") || (may_write && fs::exists(root + ".only-read"))) return EPERM;
    if (fs::exists(root + ".other-type")) return EINVAL;
    *connected = new dfs_t{fs::canonical(root), may_write};
    return 0;
}
int dfs_disconnect(dfs_t* dfs) {
    delete dfs;
    return 0;
}
int dfs_cont_get(dfs_t* dfs, daos_handle_t* container) {
    struct stat about {};
    if (::stat(dfs->root.c_str(), &about) != 0) return errno;
    container->cookie = about.st_ino;
    return 0;
}
int dfs_cont_put(dfs_t*, daos_handle_t) { return 0; }
int daos_cont_query(daos_handle_t container, daos_cont_info_t* info, daos_prop_t*, daos_event_t*) {
    std::memcpy(info->ci_uuid, &container.cookie, sizeof container.cookie);
    return 0;
}
int dfs_sync(dfs_t* dfs) { return dfs->may_write ? wished_failure("dfs_sync") : EPERM; }
