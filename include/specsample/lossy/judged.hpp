// Rules that judge a drafted token by a few numbers: its probability, its rank, the entropy of its row.
//
// Such a rule is a line of a table: a chance, which is a function of these numbers, and where the last token comes from
// after a rejection. The walk, the chances and the output distribution (distribution.hpp) follow from the two.
//
//     struct Confident {
//         static constexpr bool lossless = false;
//         static constexpr auto recovery = lossy::Recovery::target;
//         double least = .5;
//
//         void check() const {}  // throws std::invalid_argument for options out of range
//         walks::Ratio chance(lossy::DraftedToken& x) const { return lossy::decide(x.p() >= least); }
//         template <class T>
//         Outcome operator()(const T& round) const { return lossy::judge(round, *this); }
//     };
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/entropy.hpp>
#include <specsample/lossy/drafted_token.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Count the entries that rank before the entry of `token`: larger entries, and equal entries of lower ids.
template <class View>
Index rank(const View& row, Index token) {
    const auto mass = row.coeff(token);
    Index before = 0;
    for (Index i = 0; i < row.size(); ++i) before += row.coeff(i) > mass || (row.coeff(i) == mass && i < token);
    return before;
}

/// A node whose children are judged by a rule. Base is what the walk needs of the node: its row or its residual.
template <class Base, class Facts>
class JudgedNode : public Base, public Facts {
  public:
    template <class T>
    JudgedNode(const T& context, Index node, const Judge<Facts>& judge) : Base(context, node), judge_(judge) {}

    walks::Ratio ratio(Index child) {
        child_ = child;
        share_ = 0;
        const walks::Ratio chance = judge_.chance(judge_.rule, *this);
        return this->fault() ? walks::Ratio{0, 1} : chance;
    }

    Index node() const final { return child_; }
    Token token() const final { return this->context().token(child_); }
    double p() final { return this->entry(token()); }
    double before() const final { return before_; }

    double share() final {
        share_ = p() / this->sum();
        const auto& shape = this->context().shape;
        for (Index child = shape.first_child(Base::node()); child != child_; child = shape.next_sibling(child))
            if (this->context().token(child) == token()) share_ = 0;
        return share_;
    }

    double largest_p() final {
        const Index id = best();
        return id < 0 ? 0 : static_cast<double>(this->view().coeff(id));
    }
    Index rank() final { return token() == best() ? 0 : detail::rank(this->view(), token()); }

    double entropy() final {
        if (!entropy_) entropy_ = kernels::entropy(this->view());
        if (!is_finite(*entropy_)) this->blame_row();
        return *entropy_;
    }

    double largest_q() final {
        const auto distribution = this->distribution(child_);
        using Distribution = std::remove_cvref_t<decltype(distribution)>;
        if constexpr (RowDistribution<Distribution>) {
            if (distribution.is_point()) return 1;
            const Index id = this->fault() ? -1 : kernels::argmax(distribution.row());
            if (id >= 0) return static_cast<double>(distribution.row().coeff(id));
            this->blame(kernels::inspect(distribution.row(), Side::draft, child_));
            return 0;
        } else {
            if (!RatioDistribution<Distribution>)
                invalid("verify", "a drafted token's distribution", "SharedNoise, which has no row",
                        "Sampled{row}, drawn with Purpose::draft, for this rule");
            return 1;
        }
    }

  protected:
    const Judge<Facts>& judge() const { return judge_; }
    void use_up_share() { before_ += share_; }

    /// Return the target's likeliest id; -1 if the row is bad.
    Index best() {
        if (!best_) best_ = kernels::argmax(this->view());
        if (*best_ < 0) this->blame_row();
        return *best_;
    }

  private:
    const Judge<Facts>& judge_;
    Index child_ = no_node;
    double share_ = 0, before_ = 0;
    std::optional<Index> best_{};
    std::optional<double> entropy_{};
};

/// A node whose last token is drawn from the residual.
template <class T>
class ResidualNode final : public JudgedNode<walks::ResidualTarget<T>, lossy::RatioToken> {
    using Base = JudgedNode<walks::ResidualTarget<T>, lossy::RatioToken>;

  public:
    using Base::Base;

    walks::Ratio exact() override {
        const Index child = Base::node();
        this->weigh(child);
        return walks::ResidualTarget<T>::ratio(child);
    }

    void reject(Index child) {
        walks::ResidualTarget<T>::reject(child);
        this->context().state(child).factor *= this->judge().taken;
        this->use_up_share();
    }
};

/// A node whose last token is drawn without the draft's rows, which are not read but by a rule that asks for them.
template <class T>
class TargetNode final : public JudgedNode<walks::NodeRow<T>, lossy::DraftedToken> {
    using Base = JudgedNode<walks::NodeRow<T>, lossy::DraftedToken>;
    using View = typename walks::NodeRow<T>::View;

  public:
    using Base::Base;

    void reject(Index child) {
        rejected_ = child;
        this->use_up_share();
    }
    bool is_residual() const { return rejected_ != no_node; }

    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        if (this->judge().recovery == lossy::Recovery::likeliest) {
            const Index best = this->best();
            if (best >= 0) this->entry(static_cast<Token>(best));
            return {best, 1};
        }
        if (!is_residual() || this->judge().recovery == lossy::Recovery::target) return this->draw_from_row(rng);
        using Left = kernels::ResidualWeights<View, View, TargetNode>;
        return this->draw_from_rest(rng, Left(this->view(), *this), [this] { this->blame_row(); });
    }

    /// Enumerate the rejected children as point masses, which ResidualWeights subtracts.
    template <class OfRow, class OfPoint>
    void each(OfRow&&, OfPoint&& point) const {
        const auto& shape = this->context().shape;
        for (Index child = shape.first_child(walks::NodeRow<T>::node());; child = shape.next_sibling(child)) {
            point(this->context().token(child));
            if (child == rejected_) return;
        }
    }

  private:
    Index rejected_ = no_node;
};

/// Whether the drafted tokens of a round may have rows that a rule can look at.
template <class T>
inline constexpr bool knows_drafts =
    RatioDistribution<std::remove_cvref_t<decltype(distribution_at(std::declval<const T&>().distributions, Index{}))>>;

template <class T, class Facts>
Outcome walk_judged(const T& context, const Judge<Facts>& judge) {
    using Node = std::conditional_t<std::same_as<Facts, lossy::RatioToken>, ResidualNode<T>, TargetNode<T>>;
    return walks::top_down(context, [&](Index node) { return Node(context, node, judge); });
}

}  // namespace detail

namespace lossy {

/// Judge a draft by a rule of this kind, top-down: the walk goes on from the first accepted child.
/// @draws   one accept draw per token judged whose chance is neither 0 nor 1, one last-token draw
/// @cost    the cost of the numbers that the rule asks for; one pass for the last token, of two rows after a rejection
///          if it recovers from the residual
template <class T, class Rule>
Outcome judge(const T& round, const Rule& rule) {
    static_assert(
        JudgingRule<Rule>,
        "specsample::lossy::judge: the rule must have `static constexpr auto recovery = lossy::Recovery::target;` or "
        "another one, check(), and `walks::Ratio chance(lossy::DraftedToken& x) const`; one that recovers from the "
        "residual has chance(lossy::RatioToken&) and `double taken() const` instead");
    if constexpr (JudgingRule<Rule>) return detail::walk_judged(round, detail::judge_of(rule));
    return {};
}

}  // namespace lossy

}}  // namespace specsample
