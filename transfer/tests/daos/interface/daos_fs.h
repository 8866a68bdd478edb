/* As daos.h beside it: what core/daos uses of libdfs, for machines without the headers of DAOS. All calls return
 * 0 or a
 * number of errno. */

#ifndef FOREBAY_TESTS_DAOS_FS_H
#define FOREBAY_TESTS_DAOS_FS_H

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "daos.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DFS_MAX_NAME NAME_MAX
#define DFS_MAX_PATH PATH_MAX
#define DFS_MAX_FSIZE (~0ULL)
#define DFS_MAX_XATTR_NAME 255
#define DFS_MAX_XATTR_LEN 65536

typedef struct dfs dfs_t;
typedef struct dfs_obj dfs_obj_t;
typedef struct {
    uint64_t da_id;
    daos_size_t da_chunk_size;
    daos_oclass_id_t da_oclass_id;
    daos_prop_t* da_props;
    uint32_t da_mode;
    daos_oclass_id_t da_dir_oclass_id, da_file_oclass_id;
    char da_hints[128];
} dfs_attr_t;

int dfs_init(void);
int dfs_fini(void);
#define DFS_RELAXED 0
#define DFS_BALANCED 4
int dfs_cont_create_with_label(daos_handle_t pool, const char* label, dfs_attr_t* attributes, uuid_t* uuid,
                               daos_handle_t* container, dfs_t** dfs);
int dfs_mount(daos_handle_t pool, daos_handle_t container, int flags, dfs_t** dfs);
int dfs_umount(dfs_t* dfs);
int dfs_sync(dfs_t* dfs);

int dfs_lookup(dfs_t* dfs, const char* path, int flags, dfs_obj_t** object, mode_t* mode, struct stat* status);
int dfs_lookup_rel(dfs_t* dfs, dfs_obj_t* parent, const char* name, int flags, dfs_obj_t** object, mode_t* mode,
                   struct stat* status);
int dfs_open(dfs_t* dfs, dfs_obj_t* parent, const char* name, mode_t mode, int flags, daos_oclass_id_t object_class,
             daos_size_t chunk_bytes, const char* link_text, dfs_obj_t** object);
int dfs_release(dfs_obj_t* object);
int dfs_mkdir(dfs_t* dfs, dfs_obj_t* parent, const char* name, mode_t mode, daos_oclass_id_t object_class);
int dfs_remove(dfs_t* dfs, dfs_obj_t* parent, const char* name, bool force, daos_obj_id_t* removed);
int dfs_move(dfs_t* dfs, dfs_obj_t* parent, const char* name, dfs_obj_t* new_parent, const char* new_name,
             daos_obj_id_t* removed);
int dfs_readdir(dfs_t* dfs, dfs_obj_t* folder, daos_anchor_t* anchor, uint32_t* count, struct dirent* entries);

int dfs_obj2id(dfs_obj_t* object, daos_obj_id_t* id);
int dfs_get_mode(dfs_obj_t* object, mode_t* mode);
int dfs_get_symlink_value(dfs_obj_t* object, char* text, daos_size_t* bytes);
int dfs_stat(dfs_t* dfs, dfs_obj_t* parent, const char* name, struct stat* status);
int dfs_ostat(dfs_t* dfs, dfs_obj_t* object, struct stat* status);
#define DFS_SET_ATTR_MODE (1 << 0)
#define DFS_SET_ATTR_ATIME (1 << 1)
#define DFS_SET_ATTR_MTIME (1 << 2)
#define DFS_SET_ATTR_SIZE (1 << 3)
#define DFS_SET_ATTR_UID (1 << 4)
#define DFS_SET_ATTR_GID (1 << 5)
int dfs_osetattr(dfs_t* dfs, dfs_obj_t* object, struct stat* status, int flags);
int dfs_setxattr(dfs_t* dfs, dfs_obj_t* object, const char* name, const void* value, daos_size_t bytes, int flags);
int dfs_getxattr(dfs_t* dfs, dfs_obj_t* object, const char* name, void* value, daos_size_t* bytes);
int dfs_removexattr(dfs_t* dfs, dfs_obj_t* object, const char* name);
int dfs_listxattr(dfs_t* dfs, dfs_obj_t* object, char* list, daos_size_t* bytes);

int dfs_read(dfs_t* dfs, dfs_obj_t* file, d_sg_list_t* list, daos_off_t offset, daos_size_t* read, daos_event_t* event);
int dfs_write(dfs_t* dfs, dfs_obj_t* file, d_sg_list_t* list, daos_off_t offset, daos_event_t* event);
int dfs_get_size(dfs_t* dfs, dfs_obj_t* file, daos_size_t* bytes);
int dfs_punch(dfs_t* dfs, dfs_obj_t* file, daos_off_t offset, daos_size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
