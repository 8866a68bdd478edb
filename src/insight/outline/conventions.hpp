// The conventions in which views and exports say what snapshots hold: one outline each, by its name.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::outline {

/// By the name that the configuration gives it; `refused` for anything else, with the names there are.
Result<Convention> convention_named(const std::string& name);

struct Wish {
    Convention convention = Convention::plain;
    bool is_series = false;  // all steps in one file; else there is one Contents
    std::string table;       // the one that H5Part shows; "" where there is one only
    bool renumber = false;   // H5Part's steps are counted from 0, as readers that know no others want them
    std::string file_name;   // of the file to be made; openPMD tells from it how its neighbours are called
};

/// The outline of one file. `contents` are by rising step, at least one, of one stream. `refused` when the convention
/// cannot say it, with what would help.
Result<Outline> outline_of(std::span<const Contents> contents, const Wish& wish);

}  // namespace forebay::outline
