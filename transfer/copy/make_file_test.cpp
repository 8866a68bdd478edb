// Goal: a file is copied only after some ticks of the ctime clock without a change.
// Method: a file reports in its status that it was changed just now, for as many reads as the test wants.

#include <doctest/doctest.h>

#include <chrono>

#include "transfer/copy/make_file.hpp"

using namespace forebay;

namespace {

class BusyFile final : public sys::OpenFile {
public:
    explicit BusyFile(int busy_looks) : left_(busy_looks) {}

    Result<sys::EntryStatus> status() override {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        if (left_ > 0) {
            --left_;
            status_.changed.seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
            status_.changed.nanoseconds = static_cast<std::uint32_t>(now.count() % 1'000'000'000 | 1);
        }
        return status_;
    }
    Result<std::vector<std::string>> attribute_names() override { return unused(); }
    Result<std::string> attribute(const std::string&) override { return unused(); }
    Result<> set_attribute(const std::string&, const std::string&) override { return unused(); }
    Result<> remove_attribute(const std::string&) override { return unused(); }
    Result<> set_owner(std::uint32_t, std::uint32_t) override { return unused(); }
    Result<> set_permissions(std::uint32_t) override { return unused(); }
    Result<> set_times(sys::FileTime, sys::FileTime) override { return unused(); }
    Result<std::uint64_t> read(std::uint64_t, std::span<std::byte>) override { return unused(); }
    Result<> write(std::uint64_t, std::span<const std::byte>) override { return unused(); }
    Result<> resize(std::uint64_t) override { return unused(); }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t) override { return unused(); }
    Result<std::uint64_t> copy_from(OpenFile&, std::uint64_t, std::uint64_t) override { return unused(); }
    Result<> sync() override { return unused(); }
    void forget_cached() override {}

private:
    static Error unused() { return {ErrorKind::unsupported, "its status alone is asked for"}; }

    int left_;
    sys::EntryStatus status_;
};

std::chrono::nanoseconds age_of(const sys::EntryStatus& status) {
    return std::chrono::system_clock::now().time_since_epoch() - std::chrono::seconds(status.changed.seconds) -
           std::chrono::nanoseconds(status.changed.nanoseconds);
}

}  // namespace

// On a busy machine the file may be at rest between two looks by chance. That counts as settled, too.
TEST_CASE("make file: what is settled was left alone for some ticks") {
    constexpr std::chrono::milliseconds ticks_least{20};  // two of the longest
    for (const int busy_looks : {1, 2, 4, 1'000}) {
        BusyFile file(busy_looks);
        const auto settled = tree::settled_status(file, file.status().value()).value();
        if (busy_looks <= 4) REQUIRE(settled);
        if (settled) CHECK(age_of(*settled) >= ticks_least);
    }
}

TEST_CASE("make file: a file that is at rest is not looked at again") {
    BusyFile file(1'000);
    sys::EntryStatus old;
    old.changed.seconds = 1'000;
    const auto settled = tree::settled_status(file, old).value();
    REQUIRE(settled);
    CHECK(settled->changed == old.changed);
}
