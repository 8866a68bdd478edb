/* For machines without the headers of DAOS: of its interface that which core/daos uses, declared for tests. A
 * build that
 * finds the headers themselves (DAOS_INCLUDE_DIR) tests with those, and this folder is left alone. Values of
 * enumerations are those of the tests. */

#ifndef FOREBAY_TESTS_DAOS_H
#define FOREBAY_TESTS_DAOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t daos_size_t;
typedef uint64_t daos_off_t;
typedef uint64_t daos_epoch_t;
typedef uint32_t daos_oclass_id_t;
typedef unsigned char uuid_t[16];

typedef struct {
    uint64_t cookie;
} daos_handle_t;

typedef struct {
    uint64_t lo, hi;
} daos_obj_id_t;

/* Errors of libdaos are negative numbers of this list. */
enum {
    DER_NO_PERM = 1001,
    DER_INVAL = 1003,
    DER_EXIST,
    DER_NONEXIST,
    DER_UNREACH,
    DER_NOSPACE,
    DER_NOMEM = 1009,
    DER_TIMEDOUT = 1011,
    DER_BUSY = 1012
};

/* A request that goes on while its caller does other things, and the queue that tells its end. */
typedef struct daos_event {
    int ev_error;
    struct {
        uint64_t space[20];
    } ev_private;
    uint64_t ev_debug;
} daos_event_t;
int daos_eq_create(daos_handle_t* queue);
#define DAOS_EQ_DESTROY_FORCE 1
int daos_eq_destroy(daos_handle_t queue, int flags);
int daos_eq_poll(daos_handle_t queue, int wait_running, int64_t timeout, unsigned int count, daos_event_t** events);
int daos_event_init(daos_event_t* event, daos_handle_t queue, daos_event_t* parent);
int daos_event_fini(daos_event_t* event);

/* Where a listing stands. */
typedef struct {
    uint16_t da_type, da_shard;
    uint32_t da_flags;
    uint64_t da_sub_anchors;
    uint8_t da_buf[104];
} daos_anchor_t;
enum { DAOS_ANCHOR_TYPE_EOF = 3 };
static inline bool daos_anchor_is_eof(daos_anchor_t* anchor) { return anchor->da_type == DAOS_ANCHOR_TYPE_EOF; }

/* Memory that is read into or written from. */
typedef struct {
    void* iov_buf;
    size_t iov_buf_len, iov_len;
} d_iov_t;
typedef struct {
    uint32_t sg_nr, sg_nr_out;
    d_iov_t* sg_iovs;
} d_sg_list_t;

/* Properties of a container. */
struct daos_prop_entry {
    uint32_t dpe_type;
    uint16_t dpe_flags, dpe_reserv;
    union {
        uint64_t dpe_val;
        char* dpe_str;
        void* dpe_val_ptr;
    };
};
typedef struct {
    uint32_t dpp_nr, dpp_reserv;
    struct daos_prop_entry* dpp_entries;
} daos_prop_t;
enum { DAOS_PROP_CO_CSUM = 1, DAOS_PROP_CO_CSUM_SERVER_VERIFY, DAOS_PROP_CO_REDUN_FAC, DAOS_PROP_CO_EC_CELL_SZ };
enum { DAOS_PROP_CO_CSUM_CRC32 = 3 };
enum { DAOS_PROP_CO_CSUM_SV_ON = 1 };
enum { DAOS_PROP_CO_REDUN_RF2 = 2 };
enum { OC_S1 = 10, OC_SX, OC_RP_2G1, OC_RP_2GX, OC_RP_3G1, OC_EC_2P1GX, OC_EC_4P2GX, OC_EC_8P2GX, OC_EC_16P2GX };
daos_prop_t* daos_prop_alloc(uint32_t entries);
void daos_prop_free(daos_prop_t* properties);

typedef struct {
    uuid_t ci_uuid;
    daos_epoch_t ci_lsnapshot;
    uint32_t ci_nhandles, ci_nsnapshots;
    uint64_t ci_md_otime, ci_md_mtime;
} daos_cont_info_t;
int daos_cont_query(daos_handle_t container, daos_cont_info_t* info, daos_prop_t* properties, daos_event_t* event);

#define DAOS_PC_RO (1U << 0)
#define DAOS_PC_RW (1U << 1)
#define DAOS_COO_RO (1U << 0)
#define DAOS_COO_RW (1U << 1)
typedef struct d_rank_list d_rank_list_t;
typedef struct {
    uuid_t pi_uuid;
    uint32_t pi_ntargets, pi_nnodes, pi_ndisabled, pi_map_ver, pi_leader;
    uint64_t pi_bits, pi_space[32];
} daos_pool_info_t;
int daos_pool_query(daos_handle_t pool, d_rank_list_t** ranks, daos_pool_info_t* info, daos_prop_t* properties,
                    daos_event_t* event);
int daos_cont_open(daos_handle_t pool, const char* container, unsigned int flags, daos_handle_t* handle,
                   daos_cont_info_t* info, daos_event_t* event);
int daos_cont_close(daos_handle_t container, daos_event_t* event);
int daos_pool_connect(const char* pool, const char* system, unsigned int flags, daos_handle_t* handle,
                      daos_pool_info_t* info, daos_event_t* event);
int daos_pool_disconnect(daos_handle_t handle, daos_event_t* event);

#ifdef __cplusplus
}
#endif

#endif
