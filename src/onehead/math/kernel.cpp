// A product is cut into tiles, whose sums fit into the processor's registers. What bounds the rest is memory:
// - Many rows: 192 rows of a and 64 columns of b at a time, of which 384 k stay in the second-level cache.
//   b is packed as double there once for all 192 rows, so that no tile has to convert it again.
// - Few rows: every number of b is used once or twice, and fetching it is all that counts. b is read as it
//   lies, 64 of its rows at a time from left to right.
// - Few columns of b, as where a row of a is a token's embedding: the same with a and b turned over, so that
//   a tile is some columns of b times 32 rows of a.
// In every way a tile's sums are put down after so many k, and taken up again for the next: the order of each
// sum stays k = 0, 1, 2, ...
#include "onehead/math/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "onehead/math/parallel.hpp"

namespace onehead {
namespace {

// As many numbers as one instruction handles: vectors of the compiler's, for each width.
template <class Number, std::size_t lanes>
struct Lanes;
template <>
struct Lanes<double, 2> {
    using Vector [[gnu::vector_size(16)]] = double;
};
template <>
struct Lanes<double, 4> {
    using Vector [[gnu::vector_size(32)]] = double;
};
template <>
struct Lanes<double, 8> {
    using Vector [[gnu::vector_size(64)]] = double;
};
template <>
struct Lanes<float, 2> {
    using Vector [[gnu::vector_size(8)]] = float;
};
template <>
struct Lanes<float, 4> {
    using Vector [[gnu::vector_size(16)]] = float;
};
template <>
struct Lanes<float, 8> {
    using Vector [[gnu::vector_size(32)]] = float;
};

// At each k, the vectors of a row of b are loaded once and used for every row of a, and each element of a is
// loaded once and used for every vector of b. The sums stay in registers while k runs.
template <std::size_t rows, std::size_t vectors, std::size_t lanes, class Number>
[[gnu::always_inline]] inline void add_products(Tile<Number> const& tile) {
    using Doubles = typename Lanes<double, lanes>::Vector;
    // NOLINTBEGIN(modernize-avoid-c-arrays): vectors do not go into templates
    Doubles sum[rows][vectors] = {};
    Doubles b_k[vectors];
    // NOLINTEND(modernize-avoid-c-arrays)
    auto const place = [&tile](std::size_t r, std::size_t v) {
        return tile.sums + r * tile.sums_stride + v * lanes;
    };
    if (tile.goes_on)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v) std::memcpy(&sum[r][v], place(r, v), sizeof(Doubles));
    for (std::size_t k = 0; k < tile.depth; ++k) {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) {
            Number const* const b = tile.b + k * tile.b_stride + v * lanes;
            typename Lanes<Number, lanes>::Vector as_it_lies;
            std::memcpy(&as_it_lies, b, sizeof as_it_lies);
            b_k[v] = __builtin_convertvector(as_it_lies, Doubles);
            // The row of b that is needed here next time; a cache line is 16 floats.
            if constexpr (sizeof(Number) == sizeof(float))
                if (v * lanes % 16 == 0) __builtin_prefetch(b + tile.depth * tile.b_stride);
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
            Doubles const a_k = tile.a[k * rows + r] - Doubles{};
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v) sum[r][v] += a_k * b_k[v];
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v) std::memcpy(place(r, v), &sum[r][v], sizeof(Doubles));
}

template <std::size_t rows, class Number>
void add_plain(Tile<Number> const& tile) {
    add_products<rows, 2, 2>(tile);
}
template <class Number>
constexpr std::array plain{add_plain<1, Number>, add_plain<2, Number>, add_plain<3, Number>,
                           add_plain<4, Number>};
constexpr Kernel plain_kernel{"plain", [] { return true; }, 4, plain<double>, plain<float>};

#if defined(__x86_64__)
template <std::size_t rows, class Number>
[[gnu::target("avx2,fma")]] void add_avx2(Tile<Number> const& tile) {
    add_products<rows, 3, 4>(tile);
}
template <class Number>
constexpr std::array avx2{add_avx2<1, Number>, add_avx2<2, Number>, add_avx2<3, Number>, add_avx2<4, Number>};

template <std::size_t rows, class Number>
[[gnu::target("avx512f")]] void add_avx512(Tile<Number> const& tile) {
    add_products<rows, 4, 8>(tile);
}
template <class Number>
constexpr std::array avx512{add_avx512<1, Number>, add_avx512<2, Number>, add_avx512<3, Number>,
                            add_avx512<4, Number>, add_avx512<5, Number>, add_avx512<6, Number>};

constexpr std::array table{
    Kernel{"avx512", [] { return static_cast<bool>(__builtin_cpu_supports("avx512f")); }, 32, avx512<double>,
           avx512<float>},
    Kernel{"avx2",
           [] {
               return static_cast<bool>(__builtin_cpu_supports("avx2")) &&
                      static_cast<bool>(__builtin_cpu_supports("fma"));
           },
           12, avx2<double>, avx2<float>},
    plain_kernel};
#else
constexpr std::array table{plain_kernel};
#endif

Kernel const*& kernel_in_use() {
    static Kernel const* kernel = std::find_if(table.begin(), table.end(),
                                               [](Kernel const& candidate) { return candidate.runs_here(); });
    return kernel;
}

// `count` rounded up to whole parts of that size.
std::size_t in_whole(std::size_t part, std::size_t count) {
    return (count + part - 1) / part * part;
}

// A range of rows, of columns, or of the inner index.
struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};

// Calls work on parts of a range, each of that size but for the last.
template <class Work>
void in_parts(Range whole, std::size_t size, Work const& work) {
    for (std::size_t begin = whole.begin; begin < whole.end; begin += size)
        work(Range{begin, std::min(begin + size, whole.end)});
}

std::size_t depth(Product const& p, std::size_t i) {
    return p.depths.empty() ? column_count(p.a) : p.depths[i];
}

// The depth that these rows share.
std::size_t shared_depth(Product const& p, Range rows) {
    std::size_t shared = column_count(p.a);
    for (std::size_t i = rows.begin; i < rows.end; ++i) shared = std::min(shared, depth(p, i));
    return shared;
}

// Rows of a for tiles of so many rows, tile after tile: all its rows at k = 0, then all at k = 1, ...
std::vector<double> pack_rows(Matrix const& a, Range rows, std::size_t tile_rows) {
    std::vector<double> packed(rows.size() * column_count(a));
    in_parts(rows, tile_rows, [&](Range tile) {
        double* const out = &packed[(tile.begin - rows.begin) * column_count(a)];
        for (std::size_t i = tile.begin; i < tile.end; ++i)
            for (std::size_t k = 0; k < column_count(a); ++k)
                out[k * tile.size() + i - tile.begin] = static_cast<double>(row(a, i)[k]);
    });
    return packed;
}

// The columns of one tile of b, row after row of these k. What fills up the tile has no meaning.
void pack_columns(Matrix const& b, Range inner, Range columns, std::size_t tile_columns,
                  std::vector<double>& packed) {
    packed.resize(inner.size() * tile_columns);
    for (std::size_t k = inner.begin; k < inner.end; ++k) {
        float const* const soon = &row(b, std::min(k + 16, row_count(b) - 1))[columns.begin];
        for (std::size_t j = 0; j < columns.size(); j += 16) __builtin_prefetch(soon + j);
        std::ranges::copy(row(b, k).subspan(columns.begin, columns.size()),
                          &packed[(k - inner.begin) * tile_columns]);
    }
}

// Takes sums of row i on from the depth that its tile's rows share to this row's own, and puts them into the
// product, from column `first` on.
void finish_row(Product const& p, std::size_t i, std::size_t first, std::size_t shared,
                std::span<double> sums, Matrix& product) {
    for (std::size_t k = shared; k < depth(p, i); ++k)
        for (std::size_t j = 0; j < sums.size(); ++j)
            sums[j] += static_cast<double>(p.a(i, k)) * static_cast<double>(row(p.b, k)[first + j]);
    auto const values = row(product, i).subspan(first, sums.size());
    for (std::size_t j = 0; j < sums.size(); ++j)
        values[j] =
            static_cast<float>(p.bias.empty() ? sums[j] : sums[j] + static_cast<double>(p.bias[first + j]));
}

// How much of a product is computed at a time.
struct Blocks {
    std::size_t rows, columns, depth;
    bool in_place;  // b is read as it lies
};
constexpr Blocks for_many_rows{192, 64, 384, false};
constexpr Blocks for_few_rows{24, 512, 64, true};

void multiply_block(Product const& p, Kernel const& kernel, Blocks const& blocks, Range rows, Range columns,
                    Matrix& product) {
    std::size_t const inner = column_count(p.a);
    std::size_t const tile_rows = kernel.packed.size();
    auto const packed_a = pack_rows(p.a, rows, tile_rows);
    std::vector<double> packed_b;
    std::size_t const width = in_whole(kernel.columns, std::min(blocks.columns, columns.size()));
    std::vector<double> sums(rows.size() * width);

    in_parts(columns, width, [&](Range block) {
        in_parts({0, inner}, blocks.depth, [&](Range k) {
            in_parts(block, kernel.columns, [&](Range strip) {
                bool const in_place = blocks.in_place && strip.size() == kernel.columns;
                if (!in_place) pack_columns(p.b, k, strip, kernel.columns, packed_b);
                in_parts(rows, tile_rows, [&](Range tile) {
                    std::size_t const shared = shared_depth(p, tile);
                    std::size_t const depth = std::clamp(shared, k.begin, k.end) - k.begin;
                    double const* const a =
                        &packed_a[(tile.begin - rows.begin) * inner + k.begin * tile.size()];
                    double* const to = &sums[(tile.begin - rows.begin) * width + strip.begin - block.begin];
                    bool const goes_on = k.begin != 0;
                    if (in_place)
                        kernel.in_place[tile.size() - 1]({a, &row(p.b, k.begin)[strip.begin],
                                                          column_count(p.b), depth, to, width, goes_on});
                    else
                        kernel.packed[tile.size() - 1](
                            {a, packed_b.data(), kernel.columns, depth, to, width, goes_on});
                    if (k.end != inner) return;
                    for (std::size_t i = tile.begin; i < tile.end; ++i)
                        finish_row(p, i, strip.begin, shared, {to + (i - tile.begin) * width, strip.size()},
                                   product);
                });
            });
        });
    });
}

// Where all columns of b make one tile's rows. b is packed as it lies: [inner, m].
void multiply_turned(Product const& p, Kernel const& kernel, Range rows, Matrix& product) {
    std::size_t const m = column_count(p.b);
    std::size_t const width = kernel.columns;
    std::vector<double> const packed_b(p.b.begin(), p.b.end());
    std::vector<float> packed_a(for_few_rows.depth * width);
    std::vector<double> sums(m * width);
    in_parts(rows, width, [&](Range strip) {
        in_parts({0, column_count(p.a)}, for_few_rows.depth, [&](Range inner) {
            for (std::size_t i = strip.begin; i < strip.end; ++i) {
                float const* const from = &row(p.a, i)[inner.begin];
                float* const to = &packed_a[i - strip.begin];
                for (std::size_t k = 0; k < inner.size(); ++k) to[k * width] = from[k];
            }
            kernel.in_place[m - 1]({&packed_b[inner.begin * m], packed_a.data(), width, inner.size(),
                                    sums.data(), width, inner.begin != 0});
        });
        for (std::size_t i = strip.begin; i < strip.end; ++i)
            for (std::size_t j = 0; j < m; ++j)
                product(i, j) = static_cast<float>(sums[j * width + i - strip.begin]);
    });
}

}  // namespace

Matrix multiply(Product const& p) {
    if (p.a.size() == 0 || p.b.size() == 0) return multiply_plainly(p);
    Kernel const& kernel = *kernel_in_use();
    std::size_t const n = row_count(p.a);
    std::size_t const m = column_count(p.b);
    Matrix product = make_matrix(n, m);
    constexpr std::size_t worth_a_thread = 500'000;  // products
    if (m <= kernel.in_place.size() && n >= kernel.columns && p.bias.empty() && p.depths.empty()) {
        for_ranges(n, worth_a_thread / p.b.size() + 1, [&](std::size_t first, std::size_t last) {
            multiply_turned(p, kernel, {first, last}, product);
        });
        return product;
    }

    Blocks const& blocks = n <= for_few_rows.rows ? for_few_rows : for_many_rows;
    std::size_t const parts = (n + blocks.rows - 1) / blocks.rows;
    std::size_t const rows_a_part = in_whole(kernel.packed.size(), (n + parts - 1) / parts);
    std::size_t const strips = in_whole(kernel.columns, m) / kernel.columns;
    for_ranges(strips, worth_a_thread / (p.a.size() * kernel.columns) + 1,
               [&](std::size_t first, std::size_t last) {
                   Range const columns{first * kernel.columns, std::min(last * kernel.columns, m)};
                   in_parts({0, n}, rows_a_part,
                            [&](Range rows) { multiply_block(p, kernel, blocks, rows, columns, product); });
               });
    return product;
}

std::span<Kernel const> kernels() {
    return table;
}

void use_kernel(Kernel const& kernel) {
    kernel_in_use() = &kernel;
}

}  // namespace onehead
