// Names for the variables of a snapshot where somebody else's file gives one name to several things.

#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

namespace forebay::foreign {

class KeptNames {
public:
    /// All names of the file come first, so that no new one is among them.
    void add(const std::string& name) { all_.insert(name); }

    /// The name under which something is kept. Its own when it is the `chosen` one of its name, and free. Else it is
    /// empty for something that has the bytes of the chosen one, and NAME~2, NAME~3 and so on for what `differs`.
    std::string keep(const std::string& name, bool chosen, bool differs);

    /// What was kept under another name, and why: "PALM reads the first".
    void note_others(std::vector<std::string>& notes, const std::string& why) const;
    /// What was left out.
    void note_repeated(std::vector<std::string>& notes) const;

private:
    std::set<std::string> all_, taken_;
    std::vector<std::string> others_, repeated_;
};

/// "a, b, c and 5 more".
std::string list_names(std::span<const std::string> names);

}  // namespace forebay::foreign
