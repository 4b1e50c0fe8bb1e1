#include "engine/kernel.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/team.hpp"

namespace engine {
namespace {

/// The packet type with as many int32 as a packet of type P has floats.
template <class P>
typename Eigen::internal::unpacket_traits<P>::integer_packet integers_like(P);

using Packet = Eigen::internal::packet_traits<float>::type;
using IntPacket = decltype(integers_like(Packet{}));
using Eigen::internal::pand;
using Eigen::internal::pcast;
using Eigen::internal::ploadu;
using Eigen::internal::plogical_shift_left;
using Eigen::internal::pmadd;
using Eigen::internal::pmul;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

/// The initial value of the sums.
enum class Start { zero, y };

// A weight is widened in the highest byte of a word, which gives 2^24 times its value: exact as a float, and undone by
// the scales. Masking that byte out is cheaper than shifting it down.
constexpr std::int32_t highest_byte = -0x1000000;
constexpr float word_scale = 0x1p-24f;

/// Turns one load from a panel into `columns` packets of floats, each holding one column of the panel's rows.
template <class Stored>
struct Format;

template <>
struct Format<float> {
    static constexpr int columns = 1;
    using Loaded = Packet;

    template <int Column>
    static Packet widen(const Loaded& loaded) {
        return loaded;
    }
};

template <>
struct Format<std::int32_t> {
    static constexpr int columns = columns_per_word;
    using Loaded = IntPacket;

    template <int Column>
    static Packet widen(const Loaded& loaded) {  // byte `Column` of every word
        return pcast<IntPacket, Packet>(masked<Column>(loaded));
    }

    template <int Column>
    static Loaded masked(const Loaded& loaded) {
        if constexpr (Column == 0) {
            return plogical_shift_left<24>(loaded);  // the shift leaves nothing to mask
        } else if constexpr (Column == 3) {
            return pand(loaded, pset1<Loaded>(highest_byte));
        } else {
            return pand(Loaded(plogical_shift_left<24 - 8 * Column>(loaded)), pset1<Loaded>(highest_byte));
        }
    }
};

template <int Panels, int Positions>
struct Sums {
    Packet of[Panels][Positions];
};

/// Adds up `Panels` panels from `panel` on for `Positions` rows of x from `position` on. All sums stay in registers, so
/// a weight is loaded and widened once for all of these positions, and an input once for all panels.
template <int Panels, int Positions, class Stored>
Sums<Panels, Positions> accumulate(const PanelView<Stored>& matrix, const ConstRows& x, Index panel, Index position,
                                   Sums<Panels, Positions> sums) {
    using Loaded = typename Format<Stored>::Loaded;
    const Stored* data = matrix.data + panel * matrix.stride;
    const Index x_stride = x.outerStride();
    const float* inputs = x.data() + position * x_stride;
    for (Index k = 0; k < matrix.columns; k += Format<Stored>::columns, data += panel_rows) {
        Loaded loaded[Panels];
        for (int i = 0; i < Panels; ++i) loaded[i] = ploadu<Loaded>(data + i * matrix.stride);
        const auto add_column = [&]<int Column>(std::integral_constant<int, Column>) {
            Packet weights[Panels];
            for (int i = 0; i < Panels; ++i) weights[i] = Format<Stored>::template widen<Column>(loaded[i]);
            for (int j = 0; j < Positions; ++j) {
                const auto input = pset1<Packet>(inputs[j * x_stride + k + Column]);
                // An explicit multiply-add: left to the compiler, fusing could differ between tile shapes.
                for (int i = 0; i < Panels; ++i) sums.of[i][j] = pmadd(weights[i], input, sums.of[i][j]);
            }
        };
        const auto add_columns = [&]<int... Column>(std::integer_sequence<int, Column...>) {
            (add_column(std::integral_constant<int, Column>{}), ...);
        };
        add_columns(std::make_integer_sequence<int, Format<Stored>::columns>{});
    }
    return sums;
}

/// Scales one panel's sums and writes those that belong to rows of the matrix.
template <class Stored>
void store(const PanelView<Stored>& matrix, Index panel, Packet sum, float* out) {
    const Index first = panel * panel_rows;
    if (matrix.scales) sum = pmul(sum, ploadu<Packet>(matrix.scales + first));
    if (first + panel_rows <= matrix.rows) return pstoreu(out + first, sum);
    float last[panel_rows];
    pstoreu(last, sum);
    std::copy_n(last, matrix.rows - first, out + first);
}

/// Reads y as the initial value of one panel's sums.
template <class Stored>
Packet load(const PanelView<Stored>& matrix, Index panel, const float* in) {
    const Index first = panel * panel_rows;
    if (first + panel_rows <= matrix.rows) return ploadu<Packet>(in + first);
    float last[panel_rows] = {};
    std::copy_n(in + first, matrix.rows - first, last);
    return ploadu<Packet>(last);
}

template <int Panels, int Positions, class Stored>
void compute_tile(const PanelView<Stored>& matrix, const ConstRows& x, Rows& y, Index panel, Index position,
                  Start start) {
    Sums<Panels, Positions> sums;
    for (int i = 0; i < Panels; ++i) {
        for (int j = 0; j < Positions; ++j) {
            const float* in = y.data() + (position + j) * y.outerStride();
            sums.of[i][j] = start == Start::zero ? pset1<Packet>(0.0f) : load(matrix, panel + i, in);
        }
    }
    sums = accumulate(matrix, x, panel, position, sums);
    for (int i = 0; i < Panels; ++i) {
        for (int j = 0; j < Positions; ++j) {
            store(matrix, panel + i, sums.of[i][j], y.data() + (position + j) * y.outerStride());
        }
    }
}

/// Smallest number of multiply-adds to share: waking a team takes some microseconds.
constexpr Index worth_sharing = 1 << 18;

// Up to three quarters of the registers hold sums; the others hold weights and inputs.
constexpr int max_sums = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS * 3 / 4;
constexpr int max_panels = 8;

/// Floats are cheap to load, so a tile is nearly square: it has the fewest loads per sum. Words cost several operations
/// to widen, so a tile has many positions.
template <class Stored>
constexpr int max_positions = max_sums >= 24 ? 12 : 8;
template <>
constexpr int max_positions<float> = max_sums >= 24 ? 6 : 4;

constexpr int panels_per_tile(Index positions) {
    return static_cast<int>(std::clamp<Index>(max_sums / positions, 1, max_panels));
}

/// Computes panels [panel, end) for `Positions` positions, in tiles of `Panels` panels and a rest of smaller tiles.
template <int Panels, int Positions, class Stored>
void compute_panels(const PanelView<Stored>& matrix, const ConstRows& x, Rows& y, Index panel, Index end,
                    Index position, Start start) {
    for (; panel + Panels <= end; panel += Panels)
        compute_tile<Panels, Positions>(matrix, x, y, panel, position, start);
    if constexpr (Panels > 1) compute_panels<Panels / 2, Positions>(matrix, x, y, panel, end, position, start);
}

/// Picks the instantiation for a run-time number of positions, at most `Positions`.
template <int Positions, class Stored>
void compute_positions(const PanelView<Stored>& matrix, const ConstRows& x, Rows& y, Index panel, Index end,
                       Index position, Index count, Start start) {
    if constexpr (Positions > 1) {
        if (count < Positions) {
            return compute_positions<Positions - 1>(matrix, x, y, panel, end, position, count, start);
        }
    }
    compute_panels<panels_per_tile(Positions), Positions>(matrix, x, y, panel, end, position, start);
}

/// Takes a few panels at a time through all positions, so that each panel is read from memory once.
template <class Stored>
void multiply_panels(const PanelView<Stored>& matrix, const ConstRows& x, Rows& y, Index first, Index last,
                     Start start) {
    const Index tiles = std::max<Index>(divide_up(x.rows(), max_positions<Stored>), 1);
    const Index step = divide_up(x.rows(), tiles);  // evenly: 13 positions are 7 and 6, not 12 and 1
    const Index panels = panels_per_tile(std::max<Index>(step, 1));
    for (Index panel = first; panel < last; panel += panels) {
        const Index end = std::min<Index>(panel + panels, last);
        for (Index position = 0; position < x.rows(); position += step) {
            const Index count = std::min(step, x.rows() - position);
            compute_positions<max_positions<Stored>>(matrix, x, y, panel, end, position, count, start);
        }
    }
}

/// The distance between consecutive panels in a matrix without padding columns.
template <class Stored>
Index dense_stride(Index columns) {
    return divide_up(columns, Format<Stored>::columns) * panel_rows;
}

template <class Array>
PanelView<typename Array::Scalar> view(const Array& panels, Index rows, Index columns, const float* scales) {
    return {panels.data(), dense_stride<typename Array::Scalar>(columns), rows, columns, scales};
}

}  // namespace

void multiply(const PanelView<float>& matrix, const ConstRows& x, Rows y) {
    multiply_panels(matrix, x, y, 0, divide_up(matrix.rows, panel_rows), Start::zero);
}

void multiply_add(const PanelView<float>& matrix, const ConstRows& x, Rows y) {
    multiply_panels(matrix, x, y, 0, divide_up(matrix.rows, panel_rows), Start::y);
}

PackedMatrix::PackedMatrix(Index rows, Index columns)
    : rows_(rows),
      columns_(columns),
      panels_(Floats(Floats::Zero(divide_up(rows, panel_rows) * dense_stride<float>(columns)))) {}

PackedMatrix::PackedMatrix(Index rows, Index columns, std::span<const std::int8_t> values,
                           std::span<const float> scales)
    : rows_(rows), columns_(columns), scales_(Floats::Zero(round_up(rows, panel_rows))) {
    const Index stride = dense_stride<std::int32_t>(columns);
    Words words = Words::Zero(divide_up(rows, panel_rows) * stride);
    auto value = values.begin();
    for (Index r = 0; r < rows; ++r) {
        scales_(r) = word_scale * scales[static_cast<std::size_t>(r)];
        for (Index k = 0; k < columns; ++k, ++value) {
            std::int32_t& word = words(r / panel_rows * stride + k / columns_per_word * panel_rows + r % panel_rows);
            word |= static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint8_t>(*value))
                                              << 8 * (k % columns_per_word));
        }
    }
    panels_ = std::move(words);
}

void PackedMatrix::set_rows(Index first, std::span<const float> values) {
    auto& floats = std::get<Floats>(panels_);
    const Index stride = dense_stride<float>(columns_);
    auto value = values.begin();
    for (Index r = first; value != values.end(); ++r) {
        for (Index k = 0; k < columns_; ++k, ++value) {
            floats(r / panel_rows * stride + k * panel_rows + r % panel_rows) = *value;
        }
    }
}

void PackedMatrix::copy_row(Index r, float* out) const {
    if (const auto* groups = std::get_if<GroupMatrix>(&panels_)) return groups->copy_row(r, out);
    const Index panel = r / panel_rows;
    const Index lane = r % panel_rows;
    if (const auto* floats = std::get_if<Floats>(&panels_)) {
        const float* column = floats->data() + panel * dense_stride<float>(columns_) + lane;
        for (Index k = 0; k < columns_; ++k, column += panel_rows) out[k] = *column;
        return;
    }
    const std::int32_t* word = std::get<Words>(panels_).data() + panel * dense_stride<std::int32_t>(columns_) + lane;
    for (Index k = 0; k < columns_; ++k) {
        const auto bits = static_cast<std::uint32_t>(word[k / columns_per_word * panel_rows]);
        out[k] = scales_(r) / word_scale *
                 static_cast<float>(static_cast<std::int8_t>(bits >> 8 * (k % columns_per_word) & 0xff));
    }
}

PackedMatrix PackedMatrix::select(std::span<const Index> rows, Index room) const {
    if (const auto* groups = std::get_if<GroupMatrix>(&panels_)) return groups->select(rows, room);
    PackedMatrix copy;
    copy.columns_ = columns_;
    const Index most = std::ssize(rows) + room;
    std::visit(
        [&]<class Panels>(const Panels&) {
            if constexpr (!std::is_same_v<Panels, GroupMatrix>) {
                const Index stride = dense_stride<typename Panels::Scalar>(columns_);
                copy.panels_ = Panels(Panels::Zero(divide_up(most, panel_rows) * stride));
            }
        },
        panels_);
    if (scales_.size() > 0) copy.scales_ = Floats::Zero(round_up(most, panel_rows));
    for (const Index r : rows) copy.append(*this, r);
    return copy;
}

void PackedMatrix::append(const PackedMatrix& from, Index r) {
    std::visit(
        [&]<class Panels>(Panels& panels) {
            const auto& others = std::get<Panels>(from.panels_);
            if constexpr (std::is_same_v<Panels, GroupMatrix>) {
                panels.append(others, r);
            } else {
                const Index stride = dense_stride<typename Panels::Scalar>(columns_);
                const auto place = [&](Index row) { return row / panel_rows * stride + row % panel_rows; };
                for (Index k = 0; k < stride; k += panel_rows) panels(place(rows_) + k) = others(place(r) + k);
            }
        },
        panels_);
    if (scales_.size() > 0) scales_(rows_) = from.scales_(r);
    ++rows_;
}

void PackedMatrix::truncate(Index rows) {
    rows_ = rows;
    if (auto* const groups = std::get_if<GroupMatrix>(&panels_)) groups->truncate(rows);
}

std::size_t PackedMatrix::bytes() const {
    if (const auto* groups = std::get_if<GroupMatrix>(&panels_)) return groups->bytes();
    const Index floats = std::holds_alternative<Floats>(panels_) ? std::get<Floats>(panels_).size()
                                                                 : std::get<Words>(panels_).size() + scales_.size();
    return sizeof(float) * static_cast<std::size_t>(floats);
}

Index PackedMatrix::granule() const { return std::holds_alternative<GroupMatrix>(panels_) ? Dot::rows : panel_rows; }

bool PackedMatrix::is_worth_sharing(Index positions) const { return rows_ * columns_ * positions >= worth_sharing; }

void PackedMatrix::multiply_rows(const Inputs& x, Rows y, Index first, Index last) const {
    if (const auto* groups = std::get_if<GroupMatrix>(&panels_))
        return groups->multiply(x.rounded_, y, first / Dot::rows, divide_up(last, Dot::rows));
    multiply_rows(x.floats_.topRows(x.positions_), y, first, last);
}

void PackedMatrix::multiply_rows(const ConstRows& x, Rows& y, Index first, Index last) const {
    const auto multiply = [&](const auto& view) {
        multiply_panels(view, x, y, first / panel_rows, divide_up(last, panel_rows), Start::zero);
    };
    if (const auto* floats = std::get_if<Floats>(&panels_))
        multiply(view(*floats, rows_, columns_, nullptr));
    else
        multiply(view(std::get<Words>(panels_), rows_, columns_, scales_.data()));
}

void Inputs::prepare(const PackedMatrix& matrix, Index positions) {
    positions_ = positions;
    const auto* groups = std::get_if<GroupMatrix>(&matrix.panels_);
    are_rounded_ = groups != nullptr;
    if (are_rounded_) return rounded_.resize(positions, matrix.columns(), groups->form());
    const Index width = round_up(matrix.columns(), columns_per_word);
    if (floats_.rows() < positions || floats_.cols() != width) floats_ = RowMatrix::Zero(positions, width);
}

void Inputs::write(Index first, Index column, const ConstRows& x) {
    if (are_rounded_)
        rounded_.round(first, column, x);
    else
        floats_.block(first, column, x.rows(), x.cols()) = x;
}

namespace {

/// Calls work(first, last) for parts of the matrix's rows.
template <class Work>
void share_rows(const PackedMatrix& matrix, Index positions, Team& team, Work&& work) {
    if (!matrix.is_worth_sharing(positions)) return work(Index{0}, matrix.rows());
    team.share(matrix.rows(), matrix.granule(), [&](Index first, Index last, Index) { work(first, last); });
}

}  // namespace

void multiply(const PackedMatrix& matrix, const Inputs& x, Rows y, Team& team) {
    share_rows(matrix, x.positions(), team, [&](Index first, Index last) { matrix.multiply_rows(x, y, first, last); });
}

void multiply(const PackedMatrix& matrix, const ConstRows& x, Rows y, Team& team) {
    if (std::holds_alternative<GroupMatrix>(matrix.panels_)) {
        thread_local Inputs inputs;  // keeps its memory
        inputs.prepare(matrix, x.rows());
        inputs.write(0, 0, x.leftCols(matrix.columns()));
        return multiply(matrix, inputs, y, team);
    }
    share_rows(matrix, x.rows(), team, [&](Index first, Index last) { matrix.multiply_rows(x, y, first, last); });
}

void multiply(const PackedMatrix& matrix, const ConstRows& x, Rows y) {
    Team alone;
    multiply(matrix, x, y, alone);
}

}  // namespace engine
