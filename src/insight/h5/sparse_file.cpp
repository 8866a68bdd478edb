#include "insight/h5/sparse_file.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // where HDF5 1.14 and later describe drivers
#endif

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "core/base/try.hpp"

namespace forebay::h5 {

void Stretches::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const auto end = offset + bytes.size();
    // A stretch that begins before and reaches here takes the bytes; otherwise a new stretch begins.
    auto into = all_.upper_bound(offset);
    if (into != all_.begin() && std::prev(into)->first + std::prev(into)->second.size() >= offset) --into;
    else into = all_.emplace_hint(into, offset, std::vector<std::byte>());
    auto& kept = into->second;
    const auto at = offset - into->first;
    kept.resize(std::max<std::uint64_t>(kept.size(), at + bytes.size()));
    std::memcpy(kept.data() + at, bytes.data(), bytes.size());
    // Stretches that the bytes now reach become part of it.
    for (auto next = std::next(into); next != all_.end() && next->first <= end; next = all_.erase(next)) {
        const auto overlap = end - next->first;
        if (overlap < next->second.size())
            kept.insert(kept.end(), next->second.begin() + static_cast<std::ptrdiff_t>(overlap), next->second.end());
    }
}

void Stretches::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    std::ranges::fill(bytes, std::byte{0});
    const auto end = offset + bytes.size();
    auto from = all_.upper_bound(offset);
    if (from != all_.begin()) --from;
    for (; from != all_.end() && from->first < end; ++from) {
        const auto first = std::max(offset, from->first);
        const auto last = std::min(end, from->first + from->second.size());
        if (first < last)
            std::memcpy(bytes.data() + (first - offset), from->second.data() + (first - from->first), last - first);
    }
}

/// HDF5's view of a SparseFile. C calls its functions, so no exception may leave them.
struct SparseDriver {
    H5FD_t base{};  // first, as HDF5 requires
    SparseFile* file = nullptr;
    haddr_t end_allocated = 0;

    static SparseDriver& of(H5FD_t* driver) { return *reinterpret_cast<SparseDriver*>(driver); }
    static const SparseDriver& of(const H5FD_t* driver) { return *reinterpret_cast<const SparseDriver*>(driver); }

    static H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
        const auto* info = static_cast<SparseFile* const*>(H5Pget_driver_info(access));
        if (info == nullptr) return nullptr;
        auto* driver = new (std::nothrow) SparseDriver;
        if (driver == nullptr) return nullptr;
        driver->file = *info;
        return &driver->base;
    }
    static herr_t close(H5FD_t* driver) {
        delete &of(driver);
        return 0;
    }
    static herr_t query(const H5FD_t*, unsigned long* flags) {
        if (flags != nullptr)
            *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
        return 0;
    }
    static haddr_t end_of_room(const H5FD_t* driver, H5FD_mem_t) { return of(driver).end_allocated; }
    static herr_t set_end_of_room(H5FD_t* driver, H5FD_mem_t, haddr_t end) {
        of(driver).end_allocated = end;
        return 0;
    }
    static haddr_t end_of_file(const H5FD_t* driver, H5FD_mem_t) { return of(driver).file->size_bytes_; }
    static herr_t read(H5FD_t* driver, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* to) {
        of(driver).file->written_.read(at, {static_cast<std::byte*>(to), size});
        return 0;
    }
    static herr_t write(H5FD_t* driver, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* from) {
        auto& file = *of(driver).file;
        try {
            file.written_.write(at, {static_cast<const std::byte*>(from), size});
        } catch (const std::exception&) {
            return -1;  // no memory
        }
        file.size_bytes_ = std::max<std::uint64_t>(file.size_bytes_, at + size);
        return 0;
    }
    static herr_t truncate(H5FD_t* driver, hid_t, hbool_t) {
        of(driver).file->size_bytes_ = of(driver).end_allocated;
        return 0;
    }

    static const H5FD_class_t& description() {
        static const H5FD_class_t driver = [] {
            H5FD_class_t driver_class{};
#ifdef H5FD_CLASS_VERSION
            driver_class.version = H5FD_CLASS_VERSION;
            driver_class.value = static_cast<H5FD_class_value_t>(600);  // from HDF5's range for foreign drivers
#endif
            driver_class.name = "forebay-sparse";
            driver_class.maxaddr = HADDR_MAX;
            driver_class.fc_degree = H5F_CLOSE_STRONG;
            driver_class.fapl_size = sizeof(SparseFile*);  // NOLINT(bugprone-sizeof-expression): the pointer is stored
            driver_class.open = open;
            driver_class.close = close;
            driver_class.query = query;
            driver_class.get_eoa = end_of_room;
            driver_class.set_eoa = set_end_of_room;
            driver_class.get_eof = end_of_file;
            driver_class.read = read;
            driver_class.write = write;
            driver_class.truncate = truncate;
            const H5FD_mem_t one_list[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
            std::copy(std::begin(one_list), std::end(one_list), std::begin(driver_class.fl_map));
            return driver_class;
        }();
        return driver;
    }
};

Result<Id> SparseFile::access(std::uint64_t alignment, std::uint64_t metadata_bytes) {
    constexpr auto doing = "preparing a file in memory";
    FB_TRY_ASSIGN(driver, own(H5FDregister(&SparseDriver::description()), doing));
    FB_TRY_ASSIGN(access, own(H5Pcreate(H5P_FILE_ACCESS), doing));
    SparseFile* self = this;
    // The property list keeps the driver registered.
    FB_TRY(require(H5Pset_driver(access.get(), driver.get(), &self), doing));
    FB_TRY(require(H5Pset_alignment(access.get(), alignment, alignment), doing));
    FB_TRY(require(H5Pset_meta_block_size(access.get(), metadata_bytes), doing));
    return access;
}

}  // namespace forebay::h5
