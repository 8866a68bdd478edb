// What the visitors need of the HDF5 library: handles that close themselves, failures as Errors, our element types,
// and a file that is built in memory, so that HDF5 itself opens, locks and writes no file of the target.
//
// Threads: HDF5 has state of its own for the whole process; calls must not overlap unless the library was built
//          thread-safe.

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
    /// The caller closes it.
    hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

private:
    hid_t id_ = H5I_INVALID_HID;
};

/// Keeps HDF5 from printing its error stack as long as it lives; the caller's own setting comes back afterwards.
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

/// Takes over what an H5...create or ...open gave; `doing` ("creating dataset 'u'") goes into the error's text.
Result<Id> own(hid_t id, std::string_view doing);
/// For calls that answer with a status.
Result<> require(herr_t status, std::string_view doing);

/// HDF5 locks no file that is opened or made with `access`. A version before 1.10.7 asks the environment alone:
/// HDF5_USE_FILE_LOCKING.
Result<> set_no_locks(const Id& access);
/// How to open the file of that name: without HDF5's lock where its file system has none, which HDF5 takes for an
/// error.
Result<Id> access_to(const std::string& path);

/// The type of an element as node files store it: little-endian, complex numbers as {r, i}, strings padded with NUL.
Result<Id> stored_type(Type type);
/// Text of variable length, as h5py and netCDF write strings.
Result<Id> text_type();

/// A simple dataspace, or a scalar for no dimensions.
Result<Id> space_of(const Extents& shape);
/// Selects `box` in a dataspace of as many dimensions.
Result<> select(const Id& space, const Box& box);

/// A new file whose groups and objects remember their order, and no time, so that equal content gives equal bytes.
class Hdf5File {
public:
    static Result<Hdf5File> in_memory();
    /// `access` says how HDF5 reads and writes it, `name` which one.
    static Result<Hdf5File> create(const Id& access, const char* name);

    const Id& id() const { return file_; }
    /// Opens a group, "" for the root; it and its parents are made when they are missing.
    Result<Id> group(const std::string& path);
    /// Creates a dataset; `creation` is from dataset_creation(). Missing groups are made.
    Result<Id> dataset(const std::string& path, const Id& type, const Id& space, const Id& creation);
    /// Gives a type a name, which netCDF 4.9 and older need to understand a compound.
    Result<> name_type(const std::string& name, const Id& type);
    /// Of a file in memory, its bytes.
    Result<std::string> bytes();
    /// Writes all that is not written and closes it, which says whether that worked; no object of it is open by then.
    Result<> close();

private:
    explicit Hdf5File(Id file) : file_(std::move(file)) {}
    Id file_;
};

/// Properties of a dataset to be created: attributes in order, no times.
Result<Id> dataset_creation();

}  // namespace forebay::h5
