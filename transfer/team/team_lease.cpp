#include "transfer/team/team_lease.hpp"

#include <algorithm>
#include <utility>

#include "core/base/try.hpp"
#include "core/move/pace.hpp"
#include "core/sys/clock.hpp"

namespace forebay::tree {

namespace {

// A message and its answer take some hundred milliseconds.
constexpr std::chrono::milliseconds lease_look{5};

/// An OpenEntry that is changed only while the lease lasts.
template <class Interface>
class WithinLease : public Interface {
public:
    WithinLease(std::shared_ptr<Interface> entry, const TeamLease& lease) : entry_(std::move(entry)), lease_(lease) {}

    Result<sys::EntryStatus> status() override { return entry_->status(); }
    Result<std::vector<std::string>> attribute_names() override { return entry_->attribute_names(); }
    Result<std::string> attribute(const std::string& name) override { return entry_->attribute(name); }
    Result<> set_attribute(const std::string& name, const std::string& value) override {
        return change([&] { return entry_->set_attribute(name, value); });
    }
    Result<> remove_attribute(const std::string& name) override {
        return change([&] { return entry_->remove_attribute(name); });
    }
    Result<> set_owner(std::uint32_t user, std::uint32_t group) override {
        return change([&] { return entry_->set_owner(user, group); });
    }
    Result<> set_permissions(std::uint32_t permissions) override {
        return change([&] { return entry_->set_permissions(permissions); });
    }
    Result<> set_times(sys::FileTime accessed, sys::FileTime modified) override {
        return change([&] { return entry_->set_times(accessed, modified); });
    }
    Result<bool> lock_alone() override { return entry_->lock_alone(); }
    void unlock() override { entry_->unlock(); }
    Result<> keep_set() override {
        return change([&] { return entry_->keep_set(); });
    }

protected:
    Interface& entry() const { return *entry_; }
    const TeamLease& lease() const { return lease_; }
    template <class Change>
    auto change(const Change& make) -> decltype(make()) {
        FB_TRY(lease_.hold());
        return make();
    }

private:
    const std::shared_ptr<Interface> entry_;
    const TeamLease& lease_;
};

class FileWithinLease final : public WithinLease<sys::OpenFile> {
public:
    using WithinLease::WithinLease;

    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        return entry().read(offset, bytes);
    }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return change([&] { return entry().write(offset, bytes); });
    }
    Result<> resize(std::uint64_t bytes) override {
        return change([&] { return entry().resize(bytes); });
    }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        return entry().next_data(offset);
    }
    Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) override {
        return change([&] { return entry().copy_from(source, offset, bytes); });
    }
    Result<std::uint64_t> copy_to(OpenFile& target, std::uint64_t offset, std::uint64_t bytes) override {
        return entry().copy_to(target, offset, bytes);
    }
    bool begins_with_attributes() const override { return entry().begins_with_attributes(); }
    Result<std::uint64_t> begin(const std::string& final_name, OpenFile& source,
                                const sys::EntryStatus& status) override {
        return change([&] { return entry().begin(final_name, source, status); });
    }
    std::uint64_t held_at(std::uint64_t offset) override { return entry().held_at(offset); }
    Result<std::string> written_parts() override { return entry().written_parts(); }
    Result<> take_parts(const std::string& parts) override { return entry().take_parts(parts); }
    Result<std::optional<std::uint32_t>> checksum() override { return entry().checksum(); }
    Result<bool> is_read_checked() override { return entry().is_read_checked(); }
    Result<> sync() override { return entry().sync(); }
    void forget_cached() override { entry().forget_cached(); }
};

class FolderWithinLease final : public WithinLease<sys::Folder> {
public:
    using WithinLease::WithinLease;

    Result<> list(const NameTaker& take) override { return entry().list(take); }
    Result<> tell_unnamed(const UnnamedTaker& take) override { return entry().tell_unnamed(take); }
    Result<sys::EntryStatus> status_of(const std::string& name) override { return entry().status_of(name); }
    Result<std::string> link_text(const std::string& name) override { return entry().link_text(name); }
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override {
        return entry().attribute_names_of(name);
    }
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override {
        return entry().attribute_of(name, attribute_name);
    }
    Result<std::unique_ptr<Folder>> open_folder(const std::string& name) override {
        return below<FolderWithinLease>(entry().open_folder(name));
    }
    Result<std::unique_ptr<Folder>> open_made_folder(const std::string& name) override {
        return below<FolderWithinLease>(entry().open_made_folder(name));
    }
    void expect_new() override { entry().expect_new(); }
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override {
        return below<FileWithinLease>(entry().open_file(name));
    }
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string& name) override {
        return below<FileWithinLease>(entry().reopen_file(name));
    }
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string& name) override {
        return below<WithinLease<sys::OpenEntry>>(entry().open_entry(name));
    }
    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string& name, std::uint32_t permissions) override {
        return below<FileWithinLease>(change([&] { return entry().make_file(name, permissions); }));
    }
    Result<std::unique_ptr<sys::OpenFile>> make_unlaid_file(const std::string& name,
                                                            std::uint32_t permissions) override {
        return below<FileWithinLease>(change([&] { return entry().make_unlaid_file(name, permissions); }));
    }
    Result<> make_folder(const std::string& name, std::uint32_t permissions) override {
        return change([&] { return entry().make_folder(name, permissions); });
    }
    Result<> make_link(const std::string& name, const std::string& text) override {
        return change([&] { return entry().make_link(name, text); });
    }
    Result<> make_special(const std::string& name, const sys::EntryStatus& like) override {
        return change([&] { return entry().make_special(name, like); });
    }
    Result<> make_hard_link(const std::string& name, Folder& other, const std::string& other_name) override {
        // The file system needs its own object, not the wrapper.
        const auto* within = dynamic_cast<FolderWithinLease*>(&other);
        auto& from = within != nullptr ? within->entry() : other;
        return change([&] { return entry().make_hard_link(name, from, other_name); });
    }
    Result<> rename(const std::string& name, const std::string& new_name) override {
        return change([&] { return entry().rename(name, new_name); });
    }
    Result<> rename_new(const std::string& name, const std::string& new_name) override {
        return change([&] { return entry().rename_new(name, new_name); });
    }
    Result<> remove(const std::string& name) override {
        return change([&] { return entry().remove(name); });
    }
    Result<> remove_folder(const std::string& name) override {
        return change([&] { return entry().remove_folder(name); });
    }
    void remove_each(std::span<const std::string> names, const RemovedTaker& taker) override;
    std::size_t removed_at_once() const override { return entry().removed_at_once(); }
    Result<sys::FileSystemTraits> file_system() override { return entry().file_system(); }
    bool folds_case() override { return entry().folds_case(); }
    Result<> can_make(sys::EntryKind kind) override { return entry().can_make(kind); }
    Result<> can_own(std::uint32_t user, std::uint32_t group) override { return entry().can_own(user, group); }
    Result<> can_have(const std::string& attribute_name) override { return entry().can_have(attribute_name); }
    Result<> can_link() override { return entry().can_link(); }
    sys::FileTime time_held(sys::FileTime modified) override { return entry().time_held(modified); }
    Result<> sync_file_system() override { return entry().sync_file_system(); }
    Result<std::vector<sys::MountBelow>> mounts_below() override { return entry().mounts_below(); }
    Result<bool> lies_in(const sys::EntryId& id) override { return entry().lies_in(id); }

private:
    template <class Within, class Interface>
    Result<std::unique_ptr<Interface>> below(Result<std::unique_ptr<Interface>> opened) const {
        FB_TRY(opened);
        return std::unique_ptr<Interface>(std::make_unique<Within>(std::move(*opened), lease()));
    }
};

void FolderWithinLease::remove_each(std::span<const std::string> names, const RemovedTaker& taker) {
    const auto count = removed_at_once();
    for (; !names.empty(); names = names.subspan(std::min(count, names.size()))) {
        // The lease is checked before each batch: a long list must not outlast it.
        const auto next = names.first(std::min(count, names.size()));
        if (const auto may = lease().hold()) entry().remove_each(next, taker);
        else
            for (const auto& name : next) taker(name, may);
    }
}

}  // namespace

TeamLease::TeamLease(std::chrono::seconds timeout)
    : length_(std::chrono::nanoseconds(timeout) * 3 / 4), until_(sys::time_since_boot() + length_) {}

void TeamLease::renew(std::chrono::nanoseconds time) { until_ = std::max(until_.load(), time + length_); }

Result<> TeamLease::hold() const {
    while (!has_ended_) {
        if (length_.count() == 0 || sys::time_since_boot() < until_.load()) return {};
        // A late beat may still renew the lease.
        move::sleep_until(sys::Clock::now() + lease_look, nullptr);
    }
    return Error{ErrorKind::retry, "the first process of this command has ended, or has given up this process"};
}

FolderRef within_lease(FolderRef folder, const TeamLease& lease) {
    return std::make_shared<FolderWithinLease>(std::move(folder), lease);
}

}  // namespace forebay::tree
