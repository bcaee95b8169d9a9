#include "onehead/math/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

// As many numbers as one instruction handles: vectors of the compiler's, for each width.
template <std::size_t lanes>
struct Lanes;
template <>
struct Lanes<2> {
    using Doubles [[gnu::vector_size(16)]] = double;
    using Floats [[gnu::vector_size(8)]] = float;
};
template <>
struct Lanes<4> {
    using Doubles [[gnu::vector_size(32)]] = double;
    using Floats [[gnu::vector_size(16)]] = float;
};
template <>
struct Lanes<8> {
    using Doubles [[gnu::vector_size(64)]] = double;
    using Floats [[gnu::vector_size(32)]] = float;
};

// A tile of the product is rows x (vectors * lanes) sums, which stay in the processor's registers while k
// runs. At each k a column of a meets a row of b, of which each lies `stride` after the one before.
template <std::size_t rows, std::size_t vectors, std::size_t lanes>
[[gnu::always_inline]] inline void sum_tile(double const* a, float const* b, std::size_t stride,
                                            std::size_t inner, double* sums) {
    using Doubles = typename Lanes<lanes>::Doubles;
    typename Lanes<lanes>::Floats b_k;
    Doubles sum[rows][vectors] = {};  // NOLINT(modernize-avoid-c-arrays): vectors do not go into templates
    for (std::size_t k = 0; k < inner; ++k)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) {
            std::memcpy(&b_k, b + k * stride + v * lanes, sizeof b_k);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < rows; ++r)
                sum[r][v] += a[k * rows + r] * __builtin_convertvector(b_k, Doubles);
        }
    std::memcpy(sums, sum, sizeof sum);
}

void tile_plain(double const* a, float const* b, std::size_t stride, std::size_t inner, double* sums) {
    sum_tile<4, 2, 2>(a, b, stride, inner, sums);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void tile_avx2(double const* a, float const* b, std::size_t stride,
                                           std::size_t inner, double* sums) {
    sum_tile<4, 3, 4>(a, b, stride, inner, sums);
}

[[gnu::target("avx512f")]] void tile_avx512(double const* a, float const* b, std::size_t stride,
                                            std::size_t inner, double* sums) {
    sum_tile<6, 4, 8>(a, b, stride, inner, sums);
}

constexpr std::array table{
    Kernel{"avx512", [] { return static_cast<bool>(__builtin_cpu_supports("avx512f")); }, 6, 32, tile_avx512},
    Kernel{"avx2",
           [] {
               return static_cast<bool>(__builtin_cpu_supports("avx2")) &&
                      static_cast<bool>(__builtin_cpu_supports("fma"));
           },
           4, 12, tile_avx2},
    Kernel{"plain", [] { return true; }, 4, 4, tile_plain},
};
#else
constexpr std::array table{Kernel{"plain", [] { return true; }, 4, 4, tile_plain}};
#endif

constexpr std::size_t largest_tile = std::size_t{6} * 32;

Kernel const*& kernel_in_use() {
    static Kernel const* kernel = std::find_if(table.begin(), table.end(),
                                               [](Kernel const& candidate) { return candidate.runs_here(); });
    return kernel;
}

std::size_t depth(Product const& p, std::size_t i) {
    return p.depths.empty() ? column_count(p.a) : p.depths[i];
}

// Rows [first, first + kernel.rows) of a as columns, k after k; rows past the end are 0.
std::vector<double> pack_rows(Product const& p, std::size_t first, std::size_t tile_rows) {
    std::vector<double> packed(tile_rows * column_count(p.a));
    for (std::size_t r = 0; r < std::min(tile_rows, row_count(p.a) - first); ++r)
        for (std::size_t k = 0; k < column_count(p.a); ++k) packed[k * tile_rows + r] = p.a(first + r, k);
    return packed;
}

// Columns [first, first + tile_columns) of b, row after row; columns past the end are 0.
void pack_columns(Product const& p, std::size_t first, std::size_t tile_columns, std::vector<float>& packed) {
    std::size_t const width = std::min(tile_columns, column_count(p.b) - first);
    packed.assign(tile_columns * row_count(p.b), 0);
    for (std::size_t k = 0; k < row_count(p.b); ++k)
        std::copy_n(&p.b(k, first), width, packed.begin() + static_cast<std::ptrdiff_t>(k * tile_columns));
}

// Takes a tile's sums on from the depth that its rows share to this row's own; puts them into the product.
void finish_row(Product const& p, std::size_t i, std::size_t first, std::span<double> sums,
                std::size_t shared, Matrix& product) {
    std::size_t const width = std::min(sums.size(), column_count(p.b) - first);
    for (std::size_t k = shared; k < depth(p, i); ++k)
        for (std::size_t j = 0; j < width; ++j)
            sums[j] += static_cast<double>(p.a(i, k)) * static_cast<double>(p.b(k, first + j));
    for (std::size_t j = 0; j < width; ++j)
        product(i, first + j) =
            static_cast<float>(p.bias.empty() ? sums[j] : sums[j] + static_cast<double>(p.bias[first + j]));
}

// Every tile whose columns begin at `first`. Where few tiles would share packed columns, b is read in place.
void multiply_columns(Product const& p, Kernel const& kernel,
                      std::vector<std::vector<double>> const& packed_a, std::size_t first,
                      std::vector<float>& packed_b, Matrix& product) {
    bool const in_place = packed_a.size() <= 2 && first + kernel.columns <= column_count(p.b);
    if (!in_place) pack_columns(p, first, kernel.columns, packed_b);
    float const* const b = in_place ? p.b.data() + first : packed_b.data();
    std::size_t const stride = in_place ? column_count(p.b) : kernel.columns;
    std::array<double, largest_tile> sums;  // NOLINT(*-member-init): the tile fills it
    for (std::size_t tile = 0; tile < packed_a.size(); ++tile) {
        std::size_t const begin = tile * kernel.rows;
        std::size_t const end = std::min(begin + kernel.rows, row_count(p.a));
        std::size_t shared = column_count(p.a);
        for (std::size_t i = begin; i < end; ++i) shared = std::min(shared, depth(p, i));
        kernel.tile(packed_a[tile].data(), b, stride, shared, sums.data());
        for (std::size_t i = begin; i < end; ++i)
            finish_row(p, i, first, {&sums[(i - begin) * kernel.columns], kernel.columns}, shared, product);
    }
}

}  // namespace

Matrix multiply(Product const& p) {
    Kernel const& kernel = *kernel_in_use();
    Matrix product = make_matrix(row_count(p.a), column_count(p.b));
    std::vector<std::vector<double>> packed_a((row_count(p.a) + kernel.rows - 1) / kernel.rows);
    for_rows(packed_a.size(), kernel.rows * column_count(p.a),
             [&](std::size_t tile) { packed_a[tile] = pack_rows(p, tile * kernel.rows, kernel.rows); });

    constexpr std::size_t worth_a_thread = 500'000;  // products
    std::size_t const products_a_strip = std::max<std::size_t>(1, p.a.size() * kernel.columns);
    std::size_t const strips = (column_count(p.b) + kernel.columns - 1) / kernel.columns;
    for_ranges(strips, worth_a_thread / products_a_strip + 1, [&](std::size_t begin, std::size_t end) {
        std::vector<float> packed_b;
        for (std::size_t strip = begin; strip < end; ++strip)
            multiply_columns(p, kernel, packed_a, strip * kernel.columns, packed_b, product);
    });
    return product;
}

Matrix multiply_plainly(Product const& p) {
    Matrix product = make_matrix(row_count(p.a), column_count(p.b));
    for (std::size_t i = 0; i < row_count(p.a); ++i)
        for (std::size_t j = 0; j < column_count(p.b); ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < depth(p, i); ++k)
                sum += static_cast<double>(p.a(i, k)) * static_cast<double>(p.b(k, j));
            product(i, j) = static_cast<float>(p.bias.empty() ? sum : sum + static_cast<double>(p.bias[j]));
        }
    return product;
}

std::span<Kernel const> kernels() {
    return table;
}

void use_kernel(Kernel const& kernel) {
    kernel_in_use() = &kernel;
}

}  // namespace onehead
