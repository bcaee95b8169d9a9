#include <catch2/catch.hpp>

#include "onehead/model/model.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;

namespace {

Matrix columns(Matrix const& m, std::size_t first, std::size_t count) {
    Matrix part = Matrix::from_shape({row_count(m), count});
    for (std::size_t i = 0; i < row_count(m); ++i)
        for (std::size_t j = 0; j < count; ++j) part(i, j) = m(i, first + j);
    return part;
}

Vector slice(Vector const& v, std::size_t first, std::size_t count) {
    Vector part = Vector::from_shape({count});
    for (std::size_t j = 0; j < count; ++j) part(j) = v(first + j);
    return part;
}

// Written out here, so that the hash is tested apart from how the program cuts a head.
std::string hash_of(std::size_t layer, std::size_t head) {
    auto const block = Checkpoint(onehead::test::gpt2_mini).attention(layer);
    Case weights;
    weights.ln_1 = block.ln_1;
    weights.b_o = block.c_proj_bias;
    weights.w_q = columns(block.c_attn, 64 * head, 64);
    weights.w_k = columns(block.c_attn, 192 + 64 * head, 64);
    weights.w_v = columns(block.c_attn, 384 + 64 * head, 64);
    weights.b_q = slice(block.c_attn_bias, 64 * head, 64);
    weights.b_k = slice(block.c_attn_bias, 192 + 64 * head, 64);
    weights.b_v = slice(block.c_attn_bias, 384 + 64 * head, 64);
    weights.w_o = Matrix::from_shape({64, 192});
    for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 192; ++j) weights.w_o(i, j) = block.c_proj(64 * head + i, j);
    return weights_sha256(weights);
}

}  // namespace

// Expected: Python's hashlib.sha256 over numpy's float32 bytes of the same arrays, read from the file by
// numpy.
TEST_CASE("weights_hash: as Python computes it", "[load]") {
    CHECK(hash_of(0, 0) == "18fb1947c63722f44b492889471b5f965f3515ad8cc52ee393161fd7b1fe4995");
    CHECK(hash_of(3, 2) == "5376333a378d82b1d2daa27cc59bbd3750050b47e14bc9111c1ceb547870581a");
}
