// Variable names for a snapshot, if a foreign file gives one name to several arrays.

#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

namespace forebay::foreign {

class KeptNames {
public:
    /// Add all names of the file first, so that no new name equals one of them.
    void add(const std::string& name) { all_.insert(name); }

    /// The name to store. It is unchanged if the object is the `chosen` object of its name and the name is free.
    /// Otherwise it is empty for equal bytes, or NAME~2, NAME~3 and so on if it `differs`.
    std::string keep(const std::string& name, bool chosen, bool differs);

    /// Notes the renamed objects, and the reason: "PALM reads the first".
    void note_others(std::vector<std::string>& notes, const std::string& why) const;
    /// Notes the dropped repetitions.
    void note_repeated(std::vector<std::string>& notes) const;

private:
    std::set<std::string> all_, taken_;
    std::vector<std::string> others_, repeated_;
};

/// "a, b, c and 5 more".
std::string list_names(std::span<const std::string> names);

}  // namespace forebay::foreign
