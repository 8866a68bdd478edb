// A target as a Store on a host that does not write to it: every call is carried out by a forwarder. sys::Store's
// contract holds, with one error more: `retry` where no forwarder answers. A file that was open at a forwarder that is
// lost fails with `retry` from then on; opened anew it is another forwarder's.

#pragma once

#include <memory>
#include <string>

#include "core/forward/forwarder_pool.hpp"
#include "core/sys/store.hpp"
#include "forebay/options.hpp"

namespace forebay::forward {

class ForwardedStore final : public sys::Store {
public:
    /// Connects to nobody yet.
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

    /// Has the forwarder make a view of a committed snapshot.
    Result<> make_view(const std::string& stream, std::int64_t step, const std::string& directory,
                       Convention convention);

private:
    explicit ForwardedStore(std::shared_ptr<ForwarderPool> pool) : pool_(std::move(pool)) {}
    Result<> tell(FrameKind kind, const Request& request);
    std::shared_ptr<ForwarderPool> pool_;  // its open files' too
};

}  // namespace forebay::forward
