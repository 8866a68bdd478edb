#include "transfer/daos/container.hpp"

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

constexpr daos_size_t chunk_bytes = 2u << 20;  // a full stripe of 16 cells of 128 KiB
constexpr std::uint64_t cell_bytes = 128u << 10;

// Equal to the properties of sys::daos_create_command().
class NewContainer {
public:
    NewContainer() : properties_(::daos_prop_alloc(values_.size())) {
        attributes_.da_chunk_size = chunk_bytes;
        attributes_.da_file_oclass_id = OC_EC_16P2GX;
        attributes_.da_dir_oclass_id = OC_RP_3G1;
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
    static constexpr std::array<std::pair<std::uint32_t, std::uint64_t>, 4> values_{
        {{DAOS_PROP_CO_CSUM, DAOS_PROP_CO_CSUM_CRC32},
         {DAOS_PROP_CO_CSUM_SERVER_VERIFY, DAOS_PROP_CO_CSUM_SV_ON},
         {DAOS_PROP_CO_REDUN_FAC, DAOS_PROP_CO_REDUN_RF2},
         {DAOS_PROP_CO_EC_CELL_SZ, cell_bytes}}};
    daos_prop_t* properties_;
    dfs_attr_t attributes_{};
};

bool is_not_allowed(int number) { return number == EPERM || number == EACCES || number == EROFS; }

}  // namespace

DfsContainer::~DfsContainer() {
    if (dfs_ != nullptr) ::dfs_disconnect(dfs_);
    if (is_started_) ::dfs_fini();
}

Result<> DfsContainer::connect(bool makes) {
    if (const int failed = ::dfs_init(); failed != 0) {
        auto error = sys::error_of_number("start of DAOS", place_.address(), failed);
        error.next = "check that daos_agent runs on this host, and that DAOS_AGENT_DRPC_DIR is its directory";
        return error;
    }
    is_started_ = true;
    const auto connect_as = [&](int flags, dfs_attr_t* attributes) {
        return ::dfs_connect(place_.pool.c_str(), nullptr, place_.container.c_str(), flags, attributes, &dfs_);
    };
    int failed = 0;
    if (makes) {
        NewContainer wanted;
        failed = wanted.attributes() == nullptr ? ENOMEM : connect_as(O_RDWR | O_CREAT, wanted.attributes());
    } else {
        failed = connect_as(O_RDWR, nullptr);
        if (is_not_allowed(failed)) {
            access_ = O_RDONLY;
            failed = connect_as(O_RDONLY, nullptr);
        }
    }
    if (failed != 0) {
        dfs_ = nullptr;
        return refusal(failed);
    }
    return find_number();
}

// By its UUID: its label may name the same container.
Result<> DfsContainer::find_number() {
    daos_handle_t handle{};
    daos_cont_info_t info{};
    if (const int failed = ::dfs_cont_get(dfs_, &handle); failed != 0)
        return sys::error_of_number("dfs_cont_get", place_.address(), failed);
    const int asked = ::daos_cont_query(handle, &info, nullptr, nullptr);
    ::dfs_cont_put(dfs_, handle);
    if (asked != 0)
        return Error{ErrorKind::retry,
                     fmt::format("daos_cont_query: {}: error {} of DAOS", show_text(place_.address()), asked)};
    number_ = siphash({}, std::as_bytes(std::span(info.ci_uuid)));
    return {};
}

// dfs_connect() returns ENOENT for a missing pool and for a missing container.
Error DfsContainer::refusal(int number) const {
    if (number == ENOENT) {
        daos_handle_t pool{};
        if (::daos_pool_connect(place_.pool.c_str(), nullptr, DAOS_PC_RO, &pool, nullptr, nullptr) != 0)
            return {ErrorKind::missing,
                    fmt::format("{}: there is no pool {}", show_text(place_.address()), place_.pool), "",
                    "daos pool list"};
        ::daos_pool_disconnect(pool, nullptr);
        return {ErrorKind::missing,
                fmt::format("{}: the pool {} has no container {}", show_text(place_.address()), place_.pool,
                            place_.container),
                "", fmt::format("give forebay copy or sync --make-container, or {}", sys::daos_create_command(place_))};
    }
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
