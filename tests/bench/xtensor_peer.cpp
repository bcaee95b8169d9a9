// Block 0 as one would write it with xtensor's expressions and OpenBLAS, float32, each step written with
// xt::dump_csv: xtensor_peer MODEL TRACE OUT. Token ids and head are those of TRACE, a trace of onehead's.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xcsv.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Vector = xt::xtensor<float, 1>;
using Matrix = xt::xtensor<float, 2>;

class Checkpoint {
public:
    explicit Checkpoint(fs::path const& path) : file_(path, std::ios::binary) {
        std::uint64_t length = 0;
        file_.read(reinterpret_cast<char*>(&length), sizeof length);
        std::string header(length, '\0');
        file_.read(header.data(), static_cast<std::streamsize>(length));
        header_ = Json::parse(header);
        data_ = sizeof length + length;
    }

    Vector vector(std::string const& name) {
        Vector values = Vector::from_shape({header_[name]["shape"][0].get<std::size_t>()});
        read(name, 0, values.data(), values.size());
        return values;
    }

    Matrix matrix(std::string const& name) {
        auto const shape = header_[name]["shape"].get<std::vector<std::size_t>>();
        Matrix values = Matrix::from_shape({shape[0], shape[1]});
        read(name, 0, values.data(), values.size());
        return values;
    }

    Matrix rows(std::string const& name, std::vector<std::size_t> const& wanted) {
        auto const columns = header_[name]["shape"][1].get<std::size_t>();
        Matrix values = Matrix::from_shape({wanted.size(), columns});
        for (std::size_t i = 0; i < wanted.size(); ++i)
            read(name, wanted[i] * columns, &values(i, 0), columns);
        return values;
    }

private:
    void read(std::string const& name, std::size_t first, float* values, std::size_t count) {
        auto const begin = header_[name]["data_offsets"][0].get<std::size_t>();
        file_.seekg(static_cast<std::streamoff>(data_ + begin + first * sizeof(float)));
        file_.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(float)));
    }

    std::ifstream file_;
    Json header_;
    std::size_t data_ = 0;
};

// A number a row, as a column beside a matrix.
auto column(Vector const& values) {
    return xt::view(values, xt::all(), xt::newaxis());
}

Matrix layer_norm(Matrix const& x, Vector const& gain, Vector const& bias) {
    Vector const mean = xt::mean(x, {1});
    Matrix const centred = x - column(mean);
    Vector const variance = xt::mean(xt::square(centred), {1});
    Vector const root = xt::sqrt(variance + 1e-5F);
    return centred / column(root) * gain + bias;
}

Matrix softmax(Matrix const& scores) {
    Vector const largest = xt::amax(scores, {1});
    Matrix const powers = xt::exp(scores - column(largest));
    Vector const sums = xt::sum(powers, {1});
    return powers / column(sums);
}

struct Writer {
    fs::path folder;
    void operator()(std::string const& name, Matrix const& values) const {
        std::ofstream file(folder / (name + ".csv"));
        xt::dump_csv(file, values);
    }
};

// One head's output [n, d_model] from the queries, keys and values of all heads; its steps go to `write`.
template <class Write>
Matrix head_output(Matrix const& qkv, Matrix const& c_proj, std::size_t head, std::size_t d_head,
                   Write const& write) {
    std::size_t const d_model = qkv.shape(1) / 3;
    auto const cut = [&](std::size_t third) -> Matrix {
        std::size_t const first = third * d_model + head * d_head;
        return xt::view(qkv, xt::all(), xt::range(first, first + d_head));
    };
    Matrix const q = cut(0), k = cut(1), v = cut(2);
    Matrix const scores = xt::linalg::dot(q, xt::transpose(k));
    Matrix const scaled = scores / std::sqrt(static_cast<float>(d_head));
    Matrix const later = xt::triu(xt::ones<float>(scores.shape()), 1);
    Matrix const masked = xt::where(later > 0.5F, -std::numeric_limits<float>::infinity(), scaled);
    Matrix const pattern = softmax(masked);
    Matrix const blend = xt::linalg::dot(pattern, v);
    Matrix const w_o = xt::view(c_proj, xt::range(head * d_head, (head + 1) * d_head), xt::all());
    Matrix output = xt::linalg::dot(blend, w_o);
    write("05_q", q), write("06_k", k), write("07_v", v), write("08_scores", scores);
    write("09_scaled_scores", scaled), write("10_masked_scores", masked), write("11_softmax", pattern);
    write("12_blend", blend), write("13_output_projection", output);
    return output;
}

}  // namespace

int main(int /*argc*/, char** argv) {
    fs::path const model = argv[1];
    Json const run = Json::parse(std::ifstream(fs::path{argv[2]} / "trace.json"));
    Writer const write{argv[3]};
    fs::create_directory(write.folder);
    auto const ids = run["token_ids"].get<std::vector<std::size_t>>();
    std::vector<std::size_t> positions(ids.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    auto const wanted = run["head"].get<std::size_t>();

    Checkpoint w(model / "model.safetensors");
    Matrix const token = w.rows("wte.weight", ids), position = w.rows("wpe.weight", positions);
    Matrix const residual = token + position;
    Matrix const normalized = layer_norm(residual, w.vector("h.0.ln_1.weight"), w.vector("h.0.ln_1.bias"));
    Matrix const qkv =
        xt::linalg::dot(normalized, w.matrix("h.0.attn.c_attn.weight")) + w.vector("h.0.attn.c_attn.bias");
    Matrix const c_proj = w.matrix("h.0.attn.c_proj.weight");
    Matrix const bias = xt::view(w.vector("h.0.attn.c_proj.bias"), xt::newaxis(), xt::all());
    write("01_token_embedding", token), write("02_position_embedding", position);
    write("03_residual", residual), write("04_normalized", normalized);

    auto const n_head = run["n_head"].get<std::size_t>();
    std::size_t const d_head = token.shape(1) / n_head;
    Matrix const output = head_output(qkv, c_proj, wanted, d_head, write);
    Matrix others = xt::zeros_like(output);
    for (std::size_t head = 0; head < n_head; ++head)
        if (head != wanted)
            others += head_output(qkv, c_proj, head, d_head, [](std::string const&, Matrix const&) {});
    Matrix const after = residual + output + others + bias;
    write("14_other_heads", others), write("15_projection_bias", bias), write("16_residual_after", after);
}
