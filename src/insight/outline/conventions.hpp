// The conventions of views and exports: each has its own outline, selected by name.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::outline {

/// Finds a convention by its name in the configuration; `refused` for other names, with the known names.
Result<Convention> convention_named(const std::string& name);

struct Wish {
    Convention convention = Convention::plain;
    bool is_series = false;  // all steps in one file; else one Contents
    std::string table;       // the table for H5Part; "" if there is only one
    bool renumber = false;   // count H5Part's steps from 0, as some readers require
    std::string file_name;   // of the file to make; openPMD derives its neighbours' names
};

/// The outline of one file. `contents` holds at least one snapshot of one stream, sorted by step. `refused`, with
/// advice, if the convention cannot express it.
Result<Outline> outline_of(std::span<const Contents> contents, const Wish& wish);

}  // namespace forebay::outline
