// A store that forwards every call. Tests derive from it to make a single call slow or wrong.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/sys/passing_store.hpp"

namespace forebay::test {

using sys::PassingFile;
using sys::PassingStore;

/// Runs `other` to its end before its own operation number `at`: the agent over this store is slow there.
class InterruptedStore final : public PassingStore {
public:
    InterruptedStore(sys::Store& store, int at, std::function<void()> other)
        : PassingStore(store), at_(at), other_(std::move(other)) {}
    int operations() const { return operations_; }

private:
    sys::Store& next() override {
        if (operations_++ == at_) other_();
        return PassingStore::next();
    }
    int at_;
    std::function<void()> other_;
    int operations_ = 0;
};

}  // namespace forebay::test
