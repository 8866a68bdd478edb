// An array of records: the first records in memory, the rest in a spill file.
//
// Threads: at() by any number of threads at once, while no thread changes it.

#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/base/try.hpp"
#include "transfer/tables/spill_file.hpp"

namespace forebay::tree {

template <class Record>
class SpillArray {
    static_assert(std::is_trivially_copyable_v<Record>);

public:
    /// `size` records. Set each record before you read it.
    explicit SpillArray(std::uint64_t size = 0, std::size_t memory_max = 1u << 16)
        : memory_max_(memory_max), size_(size), held_(std::min<std::uint64_t>(size, memory_max)) {}

    std::uint64_t size() const { return size_; }

    Result<> push_back(const Record& record) {
        if (size_ < memory_max_) held_.push_back(record);
        else FB_TRY(file_.write(offset_of(size_), std::as_bytes(std::span(&record, 1))));
        ++size_;
        return {};
    }

    Result<> set(std::uint64_t index, const Record& record) {
        if (index >= held_.size()) return file_.write(offset_of(index), std::as_bytes(std::span(&record, 1)));
        held_[index] = record;
        return {};
    }

    Result<Record> at(std::uint64_t index) {
        if (index < held_.size()) return held_[index];
        Record record;
        FB_TRY(file_.read(offset_of(index), std::as_writable_bytes(std::span(&record, 1))));
        return record;
    }

private:
    std::uint64_t offset_of(std::uint64_t index) const { return (index - held_.size()) * sizeof(Record); }

    const std::size_t memory_max_;
    std::uint64_t size_;
    std::vector<Record> held_;
    SpillFile file_;
};

}  // namespace forebay::tree
