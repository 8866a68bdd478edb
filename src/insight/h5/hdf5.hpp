// HDF5 for its users here: handles that close themselves, failures as Errors, our element types, and a file in memory.
// So HDF5 itself opens, locks and writes no file at the target.
//
// Threads: HDF5 has process-wide state. Calls must not overlap, unless the library was built thread-safe.

#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "forebay/describe.hpp"
#include "forebay/result.hpp"

namespace forebay::h5 {

/// Owns one reference to an HDF5 object of any kind.
class Id {
public:
    Id() = default;
    explicit Id(hid_t id) : id_(id) {}
    Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    Id& operator=(Id&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;
    ~Id() {
        if (id_ >= 0) H5Idec_ref(id_);
    }
    hid_t get() const { return id_; }
    /// Gives up ownership: the caller must close it.
    hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

private:
    hid_t id_ = H5I_INVALID_HID;
};

/// Stops HDF5 from printing its error stack while it lives. Then restores the caller's setting.
class QuietErrors {
public:
    QuietErrors();
    QuietErrors(const QuietErrors&) = delete;
    QuietErrors& operator=(const QuietErrors&) = delete;
    ~QuietErrors();

private:
    unsigned is_version_2_ = 1;
    H5E_auto2_t print_2_ = nullptr;
    H5E_auto1_t print_1_ = nullptr;
    void* data_ = nullptr;
};

/// Takes ownership of the result of H5...create or ...open. `doing` ("creating dataset 'u'") goes into the error text.
Result<Id> own(hid_t id, std::string_view doing);
/// For calls that return a status.
Result<> require(herr_t status, std::string_view doing);

/// HDF5 does not lock files opened or made with `access`. Versions before 1.10.7 obey only the environment variable
/// HDF5_USE_FILE_LOCKING.
Result<> set_no_locks(const Id& access);
/// Properties to open the file `path`: without HDF5's lock if its file system has no locks, because HDF5 treats that as
/// an error.
Result<Id> access_to(const std::string& path);

/// The element type in node files: little-endian, complex numbers as {r, i}, strings padded with NUL.
Result<Id> stored_type(Type type);
/// Text of variable length, as h5py and netCDF write strings.
Result<Id> text_type();

/// A simple dataspace; a scalar without dimensions.
Result<Id> space_of(const Extents& shape);
/// Selects `box` in a dataspace with as many dimensions.
Result<> select(const Id& space, const Box& box);

/// A new file. Groups and objects keep their order and no times, so equal content gives equal bytes.
class Hdf5File {
public:
    static Result<Hdf5File> in_memory();
    /// `access` defines how HDF5 reads and writes the file `name`.
    static Result<Hdf5File> create(const Id& access, const char* name);

    const Id& id() const { return file_; }
    /// Opens a group; "" is the root. Makes the group and its parents if they are missing.
    Result<Id> group(const std::string& path);
    /// Creates a dataset and missing groups; `creation` is from dataset_creation().
    Result<Id> dataset(const std::string& path, const Id& type, const Id& space, const Id& creation);
    /// Names a type; netCDF 4.9 and older need a name to understand a compound.
    Result<> name_type(const std::string& name, const Id& type);
    /// The bytes of a file in memory.
    Result<std::string> bytes();
    /// Writes everything and closes the file, and returns the result. All objects of the file must be closed before.
    Result<> close();

private:
    explicit Hdf5File(Id file) : file_(std::move(file)) {}
    Id file_;
};

/// Properties of a new dataset: ordered attributes, no times.
Result<Id> dataset_creation();

}  // namespace forebay::h5
