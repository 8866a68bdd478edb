// Goal: paths of files and of variables are cut at their last slash, with or without one. Method: a table.

#include "core/base/path.hpp"

#include <doctest/doctest.h>

using namespace forebay;

TEST_CASE("the parts of a path") {
    struct Case {
        const char *path, *parent, *leaf, *directory;
    };
    for (const auto& example : {
             Case{"u", "", "u", "."},
             {"fields/u", "fields", "u", "fields"},
             {"a/b/c", "a/b", "c", "a/b"},
             {"/u", "", "u", "/"},
             {"/scratch/run", "/scratch", "run", "/scratch"},
             {"fields/", "fields", "", "fields"},
             {"", "", "", "."},
         }) {
        CAPTURE(example.path);
        CHECK(parent_of(example.path) == example.parent);
        CHECK(leaf_of(example.path) == example.leaf);
        CHECK(directory_of(example.path) == example.directory);
    }
}
