// A target as a Store on a host that does not write to it: a forwarder carries out every call. The contract of
// sys::Store holds, with one more error: `retry` if no forwarder answers. If a forwarder is lost, the files open there
// fail with `retry` from then on. Open such a file again: another forwarder then has it.

#pragma once

#include <memory>
#include <string>

#include "core/forward/forwarder_pool.hpp"
#include "core/sys/store.hpp"
#include "forebay/options.hpp"

namespace forebay::forward {

class ForwardedStore final : public sys::Store {
public:
    /// Makes no connection yet.
    static Result<std::unique_ptr<ForwardedStore>> make(const ClientOptions& options);

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::vector<sys::Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;
    Result<std::optional<sys::EntryId>> id_for_cut_renames(const std::string& path) override;

    /// Asks the forwarder for a view of a committed snapshot.
    Result<> make_view(const std::string& stream, std::int64_t step, const std::string& directory,
                       Convention convention);

private:
    explicit ForwardedStore(std::shared_ptr<ForwarderPool> pool) : pool_(std::move(pool)) {}
    Result<> tell(FrameKind kind, const Request& request);
    std::shared_ptr<ForwarderPool> pool_;  // shared with the open files
};

}  // namespace forebay::forward
