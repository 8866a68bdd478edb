// The base of files, directories and all other entries of S3. Setters change attributes in memory. keep_set() stores
// them with one request. Only for the .cpp files of this module.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/try.hpp"
#include "core/s3/bucket.hpp"
#include "core/s3/key.hpp"

namespace forebay::s3 {

/// `Interface` is an OpenEntry. This class implements the OpenEntry part on an object's state.
template <class Interface>
class ObjectEntry : public Interface {
public:
    Result<sys::EntryStatus> status() override {
        const std::lock_guard lock(lock_of_info());
        return status_of(info(), device());
    }
    Result<std::vector<std::string>> attribute_names() override {
        const std::lock_guard lock(lock_of_info());
        std::vector<std::string> names;
        for (const auto& [name, value] : info().state.attributes) names.push_back(name);
        return names;
    }
    Result<std::string> attribute(const std::string& name) override {
        const std::lock_guard lock(lock_of_info());
        const auto attribute = info().state.attributes.find(name);
        if (attribute == info().state.attributes.end())
            return Error{ErrorKind::missing, "there is no attribute " + name};
        return attribute->second;
    }
    Result<> set_attribute(const std::string& name, const std::string& value) override {
        return change([&](ObjectState& state) { state.attributes[name] = value; });
    }
    Result<> remove_attribute(const std::string& name) override {
        return change([&](ObjectState& state) { state.attributes.erase(name); });
    }
    Result<> set_owner(std::uint32_t user, std::uint32_t group) override {
        return change([&](ObjectState& state) {
            if (user != sys::same_user) state.user = user;
            state.group = group;
        });
    }
    Result<> set_permissions(std::uint32_t permissions) override {
        return change([&](ObjectState& state) { state.permissions = permissions; });
    }
    Result<> set_times(sys::FileTime accessed, sys::FileTime modified) override {
        return change([&](ObjectState& state) {
            state.accessed = accessed;
            state.modified = modified;
            state.has_times = true;
        });
    }

protected:
    virtual ObjectInfo& info() = 0;
    virtual std::mutex& lock_of_info() = 0;
    virtual std::uint64_t device() const = 0;

private:
    Result<> change(const std::function<void(ObjectState&)>& by) {
        const std::lock_guard lock(lock_of_info());
        auto state = info().state;
        by(state);
        FB_TRY(state.check_size());
        info().state = std::move(state);
        return {};
    }
};

/// An existing object, to read.
std::unique_ptr<sys::OpenFile> open_object(Bucket& bucket, ObjectInfo object, std::string first_bytes);
/// An object that is being made, to write.
std::unique_ptr<sys::OpenFile> open_made(Bucket& bucket, std::shared_ptr<MadeObject> object);
/// Any existing entry, to look at it and to set the attributes of OpenEntry.
std::unique_ptr<sys::OpenEntry> open_other(Bucket& bucket, ObjectInfo object);

}  // namespace forebay::s3
