// What PyTorch computed for a block, as doubles, and the steps of one head that follow from it: PyTorch keeps
// c_attn's output, the pattern and z; scores and one head's output projection are worked out from them here,
// in double.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/io/safetensors.hpp"

namespace onehead::test {

using Values = std::vector<double>;  // row-major

class Reference {
public:
    explicit Reference(std::filesystem::path const& path) : file_(path) {}

    std::size_t n_seq() const { return file_.read_integers("token_ids").size(); }
    std::vector<int> token_ids() const {
        auto const ids = file_.read_integers("token_ids");
        return {ids.begin(), ids.end()};
    }
    bool has(std::string const& name) const { return file_.find(name) != nullptr; }
    Values read(std::string const& name) const { return file_.read_doubles(name); }

    // Every step, by its name in `terms`, that follows from what is stored for this head.
    std::map<std::string, Values> steps(std::size_t layer, std::size_t head,
                                        AttentionWeights const& block) const;

private:
    Safetensors file_;
};

}  // namespace onehead::test
