#include "foreign/hdf5/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "foreign/hdf5/limits.hpp"
#include "h5/walk.hpp"

namespace forebay::foreign {

namespace {

using Sizes = std::vector<hsize_t>;

bool multiply(std::uint64_t& product, std::uint64_t factor) {
    return !__builtin_mul_overflow(product, factor, &product);
}

/// Rises the last dimension first, in steps of `step`; false after the last box.
bool next(Sizes& at, const Sizes& step, const Sizes& size) {
    for (auto dim = at.size(); dim-- > 0; at[dim] = 0) {
        if (size[dim] - at[dim] > step[dim]) {
            at[dim] += step[dim];
            return true;
        }
    }
    return false;
}

class DatasetReader {
public:
    explicit DatasetReader(const h5::Id& dataset)
        : dataset_(dataset), type_(H5Dget_type(dataset.get())), space_(H5Dget_space(dataset.get())) {}

    ReadThrough read() {
        if (space_.get() < 0 || type_.get() < 0) return {0, "has no readable type"};
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
        // Nothing was ever written there: all of it would be the fill value.
        const bool is_plain = layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) == 0;
        if (is_plain && H5Dget_storage_size(dataset_.get()) == 0) return {};
        read_box(Sizes(shape_.size(), 0), shape_);
        return std::move(done_);
    }

private:
    /// Chunks are read whole where the window has room, since each takes its filters once a read.
    ReadThrough read_chunked(const h5::Id& creation, std::uint64_t bytes) {
        // HDF5 1.10 does not take H5S_ALL here.
        const h5::Id whole(H5Scopy(space_.get()));
        hsize_t chunks = 0;
        if (H5Pget_chunk(creation.get(), static_cast<int>(unit_.size()), unit_.data()) < 0 ||
            H5Dget_num_chunks(dataset_.get(), whole.get(), &chunks) < 0)
            return {0, "cannot be read: its chunks cannot be listed"};
        auto stored = element_bytes_;
        for (std::size_t dim = 0; dim < unit_.size(); ++dim)
            if (!multiply(stored, std::clamp<hsize_t>(unit_[dim], 1, shape_[dim]))) stored = bytes;
        if (!multiply(stored, chunks)) stored = bytes;
        // Where most chunks are there, one after the other is faster than a look for each.
        if (stored >= bytes / foreign_sparse_ratio) {
            if (chunks > 0) read_box(Sizes(shape_.size(), 0), shape_);
            return std::move(done_);
        }
        for (hsize_t i = 0; i < chunks && !done_.complaint; ++i) {
            Sizes first(shape_.size());
            if (H5Dget_chunk_info(dataset_.get(), whole.get(), i, first.data(), nullptr, nullptr, nullptr) < 0)
                return {done_.bytes, "cannot be read: its chunks cannot be listed"};
            Sizes size(shape_.size());
            bool is_inside = true;
            for (std::size_t dim = 0; dim < size.size(); ++dim) {
                // A dataset that was made smaller may keep chunks outside of it.
                is_inside = is_inside && first[dim] < shape_[dim];
                if (is_inside) size[dim] = std::min(unit_[dim], shape_[dim] - first[dim]);
            }
            if (is_inside) read_box(first, size);
        }
        return std::move(done_);
    }

    /// How much of a box is read at once: whole units, more of them or less of one as the window has room.
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
            if (!read_part(from, count)) {
                done_.complaint = fmt::format("cannot be read from row {} on", from.empty() ? 0 : from[0]);
                return;
            }
            done_.bytes += bytes;
        } while (next(at, step, size));
    }

    bool read_part(const Sizes& from, const Sizes& count) {
        if (count.empty())
            return finish(H5Dread(dataset_.get(), type_.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, window_.data()), space_);
        const h5::Id memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
        if (memory.get() < 0 ||
            H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr) < 0)
            return false;
        return finish(H5Dread(dataset_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT, window_.data()),
                      memory);
    }

    /// HDF5 keeps what has a variable length in memory of its own, wherever in the type it is.
    bool finish(herr_t status, const h5::Id& memory) {
        if (status < 0) return false;
        const bool has_own_memory =
            H5Tdetect_class(type_.get(), H5T_VLEN) > 0 || H5Tdetect_class(type_.get(), H5T_STRING) > 0;
        return !has_own_memory || H5Dvlen_reclaim(type_.get(), memory.get(), H5P_DEFAULT, window_.data()) >= 0;
    }

    const h5::Id& dataset_;
    h5::Id type_, space_;
    std::uint64_t element_bytes_ = 0;
    Sizes shape_, unit_;  // the unit that is stored together
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

ReadThrough read_through(const h5::Id& dataset) { return DatasetReader(dataset).read(); }

}  // namespace forebay::foreign
