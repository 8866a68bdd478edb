// The HDF5 calls of this project. own() and require() turn HDF5's error stack into an Error: the failed call, its
// cause, and the kind from the errno in the text of HDF5's drivers. Types, spaces and property lists follow, then
// Hdf5File. All objects keep the order of their links and attributes and have no times, so equal contents give equal
// bytes. HDF5 1.10 can read the files.

#include "insight/h5/hdf5.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/lock.hpp"

namespace forebay::h5 {

namespace {

constexpr unsigned keep_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

struct Stack {
    std::string call;   // the library function that we called
    std::string cause;  // the lowest cause in the stack
    int number = 0;     // errno, if a system call failed
};

/// HDF5's file drivers write "..., errno = 28, error message = 'No space left on device', ...".
int number_in(std::string_view text) {
    constexpr std::string_view mark = "errno = ";
    const auto at = text.rfind(mark);
    int number = 0;
    if (at != std::string_view::npos)
        std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), number);
    return number;
}

herr_t visit_failure(unsigned, const H5E_error2_t* failure, void* data) {
    auto& stack = *static_cast<Stack*>(data);
    if (stack.call.empty()) stack.call = failure->func_name;
    // The walk goes down, so the last cause is the lowest.
    stack.cause = failure->desc;
    if (stack.number == 0) stack.number = number_in(stack.cause);
    return 0;
}

// A failure without errno, in memory, is a mistake of ours or lack of memory: a retry would not help.
ErrorKind kind_of(int number) {
    if (number == ENOSPC || number == EDQUOT) return ErrorKind::full;
    return number == 0 ? ErrorKind::broken : ErrorKind::retry;
}

Error failure(std::string_view doing) {
    Stack stack;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, visit_failure, &stack);
    return {kind_of(stack.number), fmt::format("HDF5 failed while {}: {}: {}. The snapshot itself is unchanged.", doing,
                                               stack.call.empty() ? "no call" : stack.call,
                                               stack.cause.empty() ? "no reason given" : stack.cause)};
}

Result<Id> half_type() {
    FB_TRY_ASSIGN(type, own(H5Tcopy(H5T_IEEE_F32LE), "making the type f16"));
    // Sign, exponent and mantissa move before the size shrinks, because they must always lie inside it.
    FB_TRY(require(H5Tset_fields(type.get(), 15, 10, 5, 0, 10), "making the type f16"));
    FB_TRY(require(H5Tset_size(type.get(), 2), "making the type f16"));
    FB_TRY(require(H5Tset_ebias(type.get(), 15), "making the type f16"));
    return type;
}

Result<Id> complex_type(hid_t part, std::size_t part_bytes) {
    FB_TRY_ASSIGN(type, own(H5Tcreate(H5T_COMPOUND, 2 * part_bytes), "making a complex type"));
    FB_TRY(require(H5Tinsert(type.get(), "r", 0, part), "making a complex type"));
    FB_TRY(require(H5Tinsert(type.get(), "i", part_bytes, part), "making a complex type"));
    return type;
}

Result<Id> string_type(std::size_t size_bytes, H5T_cset_t characters) {
    FB_TRY_ASSIGN(type, own(H5Tcopy(H5T_C_S1), "making a string type"));
    FB_TRY(require(H5Tset_size(type.get(), size_bytes), "making a string type"));
    FB_TRY(require(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "making a string type"));
    FB_TRY(require(H5Tset_cset(type.get(), characters), "making a string type"));
    return type;
}

hid_t number_type(Scalar scalar) {
    switch (scalar) {
        case Scalar::f32: return H5T_IEEE_F32LE;
        case Scalar::f64: return H5T_IEEE_F64LE;
        case Scalar::i8: return H5T_STD_I8LE;
        case Scalar::i16: return H5T_STD_I16LE;
        case Scalar::i32: return H5T_STD_I32LE;
        case Scalar::i64: return H5T_STD_I64LE;
        case Scalar::u8: return H5T_STD_U8LE;
        case Scalar::u16: return H5T_STD_U16LE;
        case Scalar::u32: return H5T_STD_U32LE;
        case Scalar::u64: return H5T_STD_U64LE;
        default: return H5I_INVALID_HID;
    }
}

/// Properties of new links: UTF-8 names.
Result<Id> link_creation() {
    FB_TRY_ASSIGN(links, own(H5Pcreate(H5P_LINK_CREATE), "making names"));
    FB_TRY(require(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), "making names"));
    return links;
}

}  // namespace

QuietErrors::QuietErrors() {
    H5Eauto_is_v2(H5E_DEFAULT, &is_version_2_);
    if (is_version_2_ != 0) {
        H5Eget_auto2(H5E_DEFAULT, &print_2_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    } else {
        H5Eget_auto1(&print_1_, &data_);
        H5Eset_auto1(nullptr, nullptr);
    }
}

QuietErrors::~QuietErrors() {
    if (is_version_2_ != 0) H5Eset_auto2(H5E_DEFAULT, print_2_, data_);
    else H5Eset_auto1(print_1_, data_);
}

Result<Id> own(hid_t id, std::string_view doing) {
    if (id < 0) return failure(doing);
    return Id(id);
}

Result<> require(herr_t status, std::string_view doing) {
    if (status < 0) return failure(doing);
    return {};
}

Result<Id> stored_type(Type type) {
    switch (type.scalar) {
        case Scalar::f16: return half_type();
        case Scalar::c64: return complex_type(H5T_IEEE_F32LE, 4);
        case Scalar::c128: return complex_type(H5T_IEEE_F64LE, 8);
        case Scalar::string: return string_type(type.size_bytes, H5T_CSET_ASCII);
        default: return own(H5Tcopy(number_type(type.scalar)), "making the type " + name_of(type));
    }
}

Result<Id> text_type() { return string_type(H5T_VARIABLE, H5T_CSET_UTF8); }

Result<Id> space_of(const Extents& shape) {
    if (shape.dims() == 0) return own(H5Screate(H5S_SCALAR), "making a scalar's space");
    std::array<hsize_t, dims_max> sizes{};
    for (int dim = 0; dim < shape.dims(); ++dim) sizes[static_cast<std::size_t>(dim)] = shape[dim];
    return own(H5Screate_simple(shape.dims(), sizes.data(), nullptr), "making an array's space");
}

Result<> select(const Id& space, const Box& box) {
    std::array<hsize_t, dims_max> first{};
    std::array<hsize_t, dims_max> count{};
    for (int dim = 0; dim < box.lo.dims(); ++dim) {
        first[static_cast<std::size_t>(dim)] = box.lo[dim];
        count[static_cast<std::size_t>(dim)] = box.size[dim];
    }
    return require(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr),
                   "selecting a box");
}

Result<> set_no_locks(const Id& access) {
#if H5_VERSION_GE(1, 10, 7)
    return require(H5Pset_file_locking(access.get(), false, true), "turning locks off");
#else
    static_cast<void>(access);
    return {};
#endif
}

Result<Id> access_to(const std::string& path) {
    FB_TRY_ASSIGN(access, own(H5Pcreate(H5P_FILE_ACCESS), "preparing to open a file"));
    const auto held = sys::lock_state(path);
    if (!held && held.error().kind == ErrorKind::unsupported) FB_TRY(set_no_locks(access));
    return access;
}

Result<Id> dataset_creation() {
    FB_TRY_ASSIGN(creation, own(H5Pcreate(H5P_DATASET_CREATE), "describing a dataset"));
    FB_TRY(require(H5Pset_attr_creation_order(creation.get(), keep_order), "describing a dataset"));
    FB_TRY(require(H5Pset_obj_track_times(creation.get(), false), "describing a dataset"));
    return creation;
}

Result<Hdf5File> Hdf5File::in_memory() {
    constexpr auto doing = "creating a file in memory";
    FB_TRY_ASSIGN(access, own(H5Pcreate(H5P_FILE_ACCESS), doing));
    // The memory grows by 1 MiB at a time. The name is not used for a file.
    FB_TRY(require(H5Pset_fapl_core(access.get(), 1u << 20, false), doing));
    return create(access, "forebay-view");
}

Result<Hdf5File> Hdf5File::create(const Id& access, const char* name) {
    constexpr auto doing = "creating a file";
    // HDF5 1.10 and later must read it, and 1.14 refuses files of 2.0's "latest".
    FB_TRY(require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), doing));
    FB_TRY_ASSIGN(creation, own(H5Pcreate(H5P_FILE_CREATE), doing));
    FB_TRY(require(H5Pset_link_creation_order(creation.get(), keep_order), doing));
    FB_TRY(require(H5Pset_obj_track_times(creation.get(), false), doing));
    FB_TRY_ASSIGN(file, own(H5Fcreate(name, H5F_ACC_TRUNC, creation.get(), access.get()), doing));
    return Hdf5File(std::move(file));
}

Result<Id> Hdf5File::group(const std::string& path) {
    FB_TRY_ASSIGN(links, link_creation());
    FB_TRY_ASSIGN(creation, own(H5Pcreate(H5P_GROUP_CREATE), "making a group"));
    FB_TRY(require(H5Pset_link_creation_order(creation.get(), keep_order), "making a group"));
    FB_TRY(require(H5Pset_obj_track_times(creation.get(), false), "making a group"));
    FB_TRY_ASSIGN(group, own(H5Gopen2(file_.get(), "/", H5P_DEFAULT), "opening the root group"));
    // One by one: HDF5 itself would make the groups between without the properties above.
    for (std::size_t begin = 0; begin < path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto name = path.substr(begin, end - begin);
        const auto there = H5Lexists(group.get(), name.c_str(), H5P_DEFAULT);
        FB_TRY(require(there, "looking for a group"));
        FB_TRY_ASSIGN(child,
                      own(there > 0 ? H5Gopen2(group.get(), name.c_str(), H5P_DEFAULT)
                                    : H5Gcreate2(group.get(), name.c_str(), links.get(), creation.get(), H5P_DEFAULT),
                          fmt::format("making group '{}'", path)));
        group = std::move(child);
        begin = end + 1;
    }
    return group;
}

Result<Id> Hdf5File::dataset(const std::string& path, const Id& type, const Id& space, const Id& creation) {
    FB_TRY_ASSIGN(parent, group(parent_of(path)));
    FB_TRY_ASSIGN(links, link_creation());
    const auto name = leaf_of(path);
    return own(
        H5Dcreate2(parent.get(), name.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT),
        fmt::format("creating dataset '{}'", path));
}

Result<> Hdf5File::name_type(const std::string& name, const Id& type) {
    FB_TRY_ASSIGN(links, link_creation());
    return require(H5Tcommit2(file_.get(), name.c_str(), type.get(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
                   fmt::format("naming type '{}'", name));
}

Result<> Hdf5File::close() { return require(H5Fclose(file_.release()), "finishing a file"); }

Result<std::string> Hdf5File::bytes() {
    // The image holds only flushed bytes.
    FB_TRY(require(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "finishing the file in memory"));
    const auto size = H5Fget_file_image(file_.get(), nullptr, 0);
    if (size <= 0) return failure("measuring the file in memory");
    std::string image(static_cast<std::size_t>(size), '\0');
    if (H5Fget_file_image(file_.get(), image.data(), image.size()) != size)
        return failure("copying the file out of memory");
    return image;
}

}  // namespace forebay::h5
