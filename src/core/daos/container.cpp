#include "core/daos/container.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::daos {

namespace {

// Equal to the properties of sys::daos_create_command().
class NewContainer {
public:
    explicit NewContainer(const sys::DaosProfile& profile)
        : values_{{{DAOS_PROP_CO_CSUM, DAOS_PROP_CO_CSUM_CRC32},
                   {DAOS_PROP_CO_CSUM_SERVER_VERIFY, DAOS_PROP_CO_CSUM_SV_ON},
                   {DAOS_PROP_CO_REDUN_FAC, profile.losses},
                   {DAOS_PROP_CO_EC_CELL_SZ, sys::daos_cell_bytes}}},
          properties_(::daos_prop_alloc(static_cast<std::uint32_t>(values_.size()))) {
        attributes_.da_chunk_size = sys::daos_chunk_bytes;
        attributes_.da_file_oclass_id = number_of(profile.file_class);
        attributes_.da_dir_oclass_id = number_of(profile.directory_class);
        attributes_.da_props = properties_;
        for (std::size_t i = 0; properties_ != nullptr && i < values_.size(); ++i) {
            properties_->dpp_entries[i].dpe_type = values_[i].first;
            properties_->dpp_entries[i].dpe_val = values_[i].second;
        }
    }
    NewContainer(const NewContainer&) = delete;
    NewContainer& operator=(const NewContainer&) = delete;
    ~NewContainer() { ::daos_prop_free(properties_); }

    /// Null if there was no memory.
    dfs_attr_t* attributes() { return properties_ == nullptr ? nullptr : &attributes_; }

private:
    static daos_oclass_id_t number_of(std::string_view name) {
        static constexpr std::array<std::pair<std::string_view, daos_oclass_id_t>, 9> classes{{
            {"EC_16P2GX", OC_EC_16P2GX},
            {"EC_8P2GX", OC_EC_8P2GX},
            {"EC_4P2GX", OC_EC_4P2GX},
            {"EC_2P1GX", OC_EC_2P1GX},
            {"RP_2GX", OC_RP_2GX},
            {"SX", OC_SX},
            {"RP_3G1", OC_RP_3G1},
            {"RP_2G1", OC_RP_2G1},
            {"S1", OC_S1},
        }};
        for (const auto& [known, number] : classes)
            if (known == name) return number;
        return 0;  // DAOS chooses
    }

    const std::array<std::pair<std::uint32_t, std::uint64_t>, 4> values_;
    daos_prop_t* properties_;
    dfs_attr_t attributes_{};
};

bool is_not_allowed(int number) { return number == EPERM || number == EACCES || number == EROFS; }

// The errno of a result of libdaos. The calls of libdfs return an errno themselves.
int errno_of(int result) {
    switch (-result) {
        case 0: return 0;
        case DER_NO_PERM: return EPERM;
        case DER_INVAL: return EINVAL;
        case DER_EXIST: return EEXIST;
        case DER_NONEXIST: return ENOENT;
        case DER_NOSPACE: return ENOSPC;
        case DER_NOMEM: return ENOMEM;
        case DER_TIMEDOUT: return ETIMEDOUT;
        case DER_UNREACH: return EHOSTUNREACH;
        default: return EIO;
    }
}

}  // namespace

DfsContainer::~DfsContainer() {
    disconnect();
    if (is_started_) ::dfs_fini();
}

void DfsContainer::disconnect() {
    if (dfs_ != nullptr) ::dfs_umount(dfs_);
    if (has_container_) ::daos_cont_close(container_, nullptr);
    if (has_pool_) ::daos_pool_disconnect(pool_, nullptr);
    dfs_ = nullptr;
    has_container_ = has_pool_ = false;
}

Result<> DfsContainer::connect(bool makes) {
    if (const int failed = ::dfs_init(); failed != 0)
        return Error{ErrorKind::retry,
                     fmt::format("{}: DAOS cannot be started on this host: its program daos_agent gives no answer "
                                 "(error {})",
                                 show_text(place_.address()), failed),
                     "nothing was changed",
                     "check that daos_agent runs on this host, and that DAOS_AGENT_DRPC_DIR is its directory"};
    is_started_ = true;
    auto failed = connect_as(O_RDWR);
    if (makes && failed == ENOENT && has_pool_) {
        FB_TRY(make());
        disconnect();
        failed = connect_as(O_RDWR);
    }
    if (is_not_allowed(failed)) {
        disconnect();
        failed = connect_as(O_RDONLY);
    }
    if (failed != 0) return refusal(failed);
    return find_number();
}

// Not by dfs_connect(): it cannot open containers of the mode "balanced" (2.2 to 2.9). In that mode a rename is atomic,
// also in other containers.
int DfsContainer::connect_as(int access) {
    const bool writes = access == O_RDWR;
    access_ = access;
    if (const int failed = errno_of(::daos_pool_connect(place_.pool.c_str(), nullptr, writes ? DAOS_PC_RW : DAOS_PC_RO,
                                                        &pool_, nullptr, nullptr)))
        return failed;
    has_pool_ = true;
    if (const int failed = errno_of(::daos_cont_open(
            pool_, place_.container.c_str(), writes ? DAOS_COO_RW : DAOS_COO_RO, &container_, nullptr, nullptr)))
        return failed;
    has_container_ = true;
    const int failed = ::dfs_mount(pool_, container_, access | DFS_BALANCED, &dfs_);
    if (failed != 0) dfs_ = nullptr;
    return failed;
}

// Not by dfs_connect(O_CREAT): if the creation is refused, it goes on with a null pointer (2.4 to 2.9).
Result<> DfsContainer::make() {
    const auto count = ranks();
    const auto& profile = sys::daos_profile_for(count);
    NewContainer wanted(profile);
    const int failed = wanted.attributes() == nullptr
                           ? ENOMEM
                           : ::dfs_cont_create_with_label(pool_, place_.container.c_str(), wanted.attributes(), nullptr,
                                                          nullptr, nullptr);
    if (failed == 0 || failed == EEXIST) return {};
    auto error = sys::error_of_number("creation of the container", place_.address(), failed);
    if (failed == EINVAL) error.kind = ErrorKind::refused;
    error.what += fmt::format(" (files {}, directories {}, in a pool of {} ranks)", profile.file_class,
                              profile.directory_class, count);
    error.next = sys::daos_create_command(place_, count) + ", with other classes if the pool refuses these";
    return error;
}

std::uint32_t DfsContainer::ranks() const {
    daos_pool_info_t info{};
    if (!has_pool_ || ::daos_pool_query(pool_, nullptr, &info, nullptr, nullptr) != 0) return 0;
    return info.pi_nnodes;
}

// By its UUID: its label may name the same container.
Result<> DfsContainer::find_number() {
    daos_cont_info_t info{};
    if (const int failed = ::daos_cont_query(container_, &info, nullptr, nullptr); failed != 0)
        return Error{ErrorKind::retry,
                     fmt::format("daos_cont_query: {}: error {} of DAOS", show_text(place_.address()), failed)};
    number_ = siphash({}, std::as_bytes(std::span(info.ci_uuid)));
    return {};
}

Error DfsContainer::refusal(int number) const {
    if (number == ENOENT && !has_pool_)
        return {ErrorKind::missing, fmt::format("{}: there is no pool {}", show_text(place_.address()), place_.pool),
                "nothing was changed", "daos pool list"};
    if (number == ENOENT)
        return {ErrorKind::missing,
                fmt::format("{}: the pool {} has no container {}", show_text(place_.address()), place_.pool,
                            place_.container),
                "nothing was changed",
                fmt::format("{}. Or give forebay copy or sync --make-container",
                            sys::daos_create_command(place_, ranks()))};
    auto error = sys::error_of_number("connection to", place_.address(), number);
    if (is_not_allowed(number)) error.next = fmt::format("daos container get-acl {} {}", place_.pool, place_.container);
    if (number == EINVAL) {
        error.kind = ErrorKind::unsupported;
        error.next =
            fmt::format("daos container get-prop {} {}: its type must be POSIX", place_.pool, place_.container);
    }
    return error;
}

}  // namespace forebay::daos
