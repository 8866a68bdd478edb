#include "insight/foreign/hdf5/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <vector>

#include "insight/foreign/hdf5/limits.hpp"
#include "insight/h5/walk.hpp"

namespace forebay::foreign {

namespace {

using Sizes = std::vector<hsize_t>;

bool multiply(std::uint64_t& product, std::uint64_t factor) {
    return !__builtin_mul_overflow(product, factor, &product);
}

/// Advances by `step`, the last dimension fastest; false after the last box.
bool next(Sizes& at, const Sizes& step, const Sizes& size) {
    for (auto dim = at.size(); dim-- > 0; at[dim] = 0) {
        if (size[dim] - at[dim] > step[dim]) {
            at[dim] += step[dim];
            return true;
        }
    }
    return false;
}

/// Receives lists and texts of variable length. Their bytes are not used, so each overwrites the one before, and memory
/// for the longest list is enough.
class ListSink {
public:
    /// The transfer properties for H5Dread(). This object must outlive them.
    h5::Id transfer() {
        h5::Id transfer(H5Pcreate(H5P_DATASET_XFER));
        const auto give = [](std::size_t bytes, void* sink) { return static_cast<ListSink*>(sink)->room(bytes); };
        const auto keep = [](void*, void*) {};
        if (transfer.get() >= 0 && H5Pset_vlen_mem_manager(transfer.get(), give, this, keep, this) < 0) return h5::Id();
        return transfer;
    }
    std::uint64_t bytes() const { return bytes_; }
    bool has_refused() const { return has_refused_; }
    /// Call it between two reads. During a read HDF5 may keep addresses of smaller buffers.
    void forget() {
        if (rooms_.size() > 1) rooms_.erase(rooms_.begin(), rooms_.end() - 1);
    }

private:
    void* room(std::size_t bytes) {
        has_refused_ = has_refused_ || bytes > foreign_list_bytes_max;
        if (has_refused_) return nullptr;
        bytes_ += bytes;
        // Doubles each time, so all buffers together take at most twice the last buffer.
        if (rooms_.empty() || rooms_.back().size() < bytes) {
            const auto larger = std::max(bytes, rooms_.empty() ? std::size_t{4096} : 2 * rooms_.back().size());
            try {
                rooms_.emplace_back(larger);
            } catch (const std::bad_alloc&) {
                return nullptr;  // no exception may pass through HDF5
            }
        }
        return rooms_.back().data();
    }

    std::vector<std::vector<std::byte>> rooms_;
    std::uint64_t bytes_ = 0;
    bool has_refused_ = false;
};

class DatasetReader {
public:
    DatasetReader(const h5::Id& dataset, const std::function<void(std::uint64_t)>& alive)
        : dataset_(dataset),
          alive_(alive),
          type_(H5Dget_type(dataset.get())),
          space_(H5Dget_space(dataset.get())),
          transfer_(lists_.transfer()) {}

    ReadThrough read() {
        if (space_.get() < 0 || type_.get() < 0 || transfer_.get() < 0) return {0, "has no readable type"};
        const auto bytes = bytes_of(dataset_);
        if (!bytes) return {0, "was not read: its shape has more elements than any file holds"};
        if (*bytes == 0) return {};
        element_bytes_ = H5Tget_size(type_.get());
        if (element_bytes_ > foreign_element_bytes_max)
            return {0, fmt::format("was not read: one element has {} bytes", element_bytes_)};
        const auto shape = shape_of(dataset_);
        shape_.assign(shape.begin(), shape.end());
        unit_.assign(shape_.size(), 1);
        const h5::Id creation(H5Dget_create_plist(dataset_.get()));
        const auto layout = creation.get() < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(creation.get());
        if (layout == H5D_CHUNKED) return read_chunked(creation, *bytes);
        // Without storage there are only fill values to read.
        const bool is_plain = layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) == 0;
        if (is_plain && H5Dget_storage_size(dataset_.get()) == 0) return {};
        read_box(Sizes(shape_.size(), 0), shape_);
        return std::move(done_);
    }

private:
    /// Reads whole chunks if the window has room, because each read runs the filters again.
    ReadThrough read_chunked(const h5::Id& creation, std::uint64_t bytes) {
        // HDF5 1.10 does not accept H5S_ALL here.
        const h5::Id whole(H5Scopy(space_.get()));
        hsize_t chunks = 0;
        if (H5Pget_chunk(creation.get(), static_cast<int>(unit_.size()), unit_.data()) < 0 ||
            H5Dget_num_chunks(dataset_.get(), whole.get(), &chunks) < 0)
            return {0, "cannot be read: its chunks cannot be listed"};
        auto stored = element_bytes_;
        for (std::size_t dim = 0; dim < unit_.size(); ++dim)
            if (!multiply(stored, std::clamp<hsize_t>(unit_[dim], 1, shape_[dim]))) stored = bytes;
        // An overflow counts as fully stored.
        if (!multiply(stored, chunks)) stored = bytes;
        // If most chunks exist, reading all in order is faster than a lookup for each.
        if (stored >= bytes / foreign_sparse_ratio) {
            if (chunks > 0 && fits_window()) read_box(Sizes(shape_.size(), 0), shape_);
            else if (chunks > 0) read_units();
            return std::move(done_);
        }
        for (hsize_t i = 0; i < chunks && !done_.complaint; ++i) {
            Sizes first(shape_.size());
            if (H5Dget_chunk_info(dataset_.get(), whole.get(), i, first.data(), nullptr, nullptr, nullptr) < 0)
                return {done_.bytes, "cannot be read: its chunks cannot be listed"};
            Sizes size(shape_.size());
            bool is_inside = true;
            for (std::size_t dim = 0; dim < size.size(); ++dim) {
                // A dataset that was shrunk may keep chunks outside its shape.
                is_inside = is_inside && first[dim] < shape_[dim];
                if (is_inside) size[dim] = std::min(unit_[dim], shape_[dim] - first[dim]);
            }
            if (is_inside) read_box(first, size);
        }
        return std::move(done_);
    }

    bool fits_window() const {
        auto bytes = element_bytes_;
        for (const auto size : unit_)
            if (!multiply(bytes, size)) return false;
        return bytes <= foreign_window_bytes;
    }

    /// Reads one unit to its end before the next unit, while HDF5 has it in memory.
    void read_units() {
        Sizes at(shape_.size(), 0), size(shape_.size());
        do {
            for (std::size_t dim = 0; dim < size.size(); ++dim) size[dim] = std::min(unit_[dim], shape_[dim] - at[dim]);
            read_box(at, size);
        } while (!done_.complaint && next(at, unit_, shape_));
    }

    /// The part of a box to read at once: several whole units, or a part of one unit if the window is too small.
    Sizes step_in(const Sizes& size) const {
        Sizes step(size.size());
        std::uint64_t bytes = element_bytes_;
        bool fits = true;
        for (std::size_t dim = 0; dim < size.size(); ++dim) {
            step[dim] = std::clamp<hsize_t>(unit_[dim], 1, size[dim]);
            fits = fits && multiply(bytes, step[dim]) && bytes <= foreign_window_bytes;
        }
        if (!fits) std::ranges::fill(step, 1);
        if (!fits) bytes = element_bytes_;
        for (auto dim = size.size(); dim-- > 0;) {
            // Fast dimensions grow first: their elements are adjacent.
            const auto times = foreign_window_bytes / bytes;
            if (times < 2) break;
            const auto before = step[dim];
            const auto most = fits ? size[dim] : std::clamp<hsize_t>(unit_[dim], 1, size[dim]);
            step[dim] = most / before < times ? most : before * times;
            bytes = bytes / before * step[dim];
            if (step[dim] < most) break;
        }
        return step;
    }

    void read_box(const Sizes& first, const Sizes& size) {
        const auto step = step_in(size);
        Sizes at(size.size(), 0), count(size.size()), from(size.size());
        do {
            auto bytes = element_bytes_;
            for (std::size_t dim = 0; dim < size.size(); ++dim) {
                count[dim] = std::min(step[dim], size[dim] - at[dim]);
                from[dim] = first[dim] + at[dim];
                bytes *= count[dim];
            }
            window_.resize(std::max<std::size_t>(window_.size(), bytes));
            const auto lists_before = lists_.bytes();
            if (!read_part(from, count)) {
                done_.complaint = lists_.has_refused()
                                      ? fmt::format("was not read: a list or text in it has more than {} bytes",
                                                    foreign_list_bytes_max)
                                      : fmt::format("cannot be read from row {} on", from.empty() ? 0 : from[0]);
                return;
            }
            done_.bytes += bytes + lists_.bytes() - lists_before;
            alive_(bytes);
        } while (next(at, step, size));
    }

    bool read_part(const Sizes& from, const Sizes& count) {
        // Buffers of the last read may be freed now.
        lists_.forget();
        if (count.empty()) return read(H5S_ALL, H5S_ALL);
        const h5::Id memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
        if (memory.get() < 0 ||
            H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr) < 0)
            return false;
        return read(memory.get(), space_.get());
    }

    bool read(hid_t memory, hid_t file) {
        return H5Dread(dataset_.get(), type_.get(), memory, file, transfer_.get(), window_.data()) >= 0;
    }

    const h5::Id& dataset_;
    const std::function<void(std::uint64_t)>& alive_;
    ListSink lists_;
    h5::Id type_, space_, transfer_;
    std::uint64_t element_bytes_ = 0;
    Sizes shape_, unit_;  // the shape stored together, such as a chunk
    std::vector<std::byte> window_;
    ReadThrough done_;
};

}  // namespace

std::optional<std::uint64_t> bytes_of(const h5::Id& dataset) {
    const h5::Id type(H5Dget_type(dataset.get())), space(H5Dget_space(dataset.get()));
    if (type.get() < 0 || space.get() < 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL) return 0;
    auto shape = shape_of(dataset);
    if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return 0;
    std::uint64_t bytes = H5Tget_size(type.get());
    for (const auto size : shape)
        if (!multiply(bytes, size)) return std::nullopt;
    return bytes;
}

ReadThrough read_through(const h5::Id& dataset, const std::function<void(std::uint64_t)>& alive) {
    return DatasetReader(dataset, alive).read();
}

std::uint64_t bytes_of_chunk(const h5::Id& dataset, const h5::Id& creation) {
    const h5::Id type(H5Dget_type(dataset.get()));
    std::array<hsize_t, H5S_MAX_RANK> unit{};
    const auto dims = H5Pget_chunk(creation.get(), static_cast<int>(unit.size()), unit.data());
    if (type.get() < 0 || dims <= 0) return 0;
    std::uint64_t bytes = H5Tget_size(type.get());
    for (int dim = 0; dim < dims; ++dim)
        if (!multiply(bytes, unit[static_cast<std::size_t>(dim)])) return 0;
    return bytes;
}

}  // namespace forebay::foreign
