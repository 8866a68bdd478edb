// The common part of the two halves of the class: with MPI and without.

#pragma once

#include "bindings/api/state.hpp"
#include "bindings/compat/genericio/state.hpp"
#include "forebay/genericio/GenericIO.h"

namespace gio {

struct GenericIO::State {
    std::unique_ptr<forebay::genericio::Data> data;
};

std::unique_ptr<forebay::genericio::Data> make_data(forebay::genericio::GridRanks ranks, const std::string& file);

}  // namespace gio
