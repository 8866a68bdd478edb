// Memory for reads and writes past the page cache: it starts at a page.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"

namespace forebay {

class PageBuffer {
public:
    /// At least `bytes` of memory, in whole pages; its content is lost when it has to grow.
    std::span<std::byte> take(std::size_t bytes) {
        if (bytes > bytes_) {
            const auto rounded = round_up(bytes, limits::page_bytes);
            memory_.reset(static_cast<std::byte*>(std::aligned_alloc(limits::page_bytes, rounded)));
            bytes_ = memory_ ? rounded : 0;
            if (!memory_) throw std::bad_alloc();
        }
        return {memory_.get(), bytes};
    }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte[], Free> memory_;
    std::size_t bytes_ = 0;
};

}  // namespace forebay
