// Any drafter behind one type: a program that chooses its drafter when it runs compiles one Sampler for all of them.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/models/shared.hpp>
#include <specsample/tree/draft_tree.hpp>
#include <specsample/tree/origin.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace choosing {

/// Any drafter, or model that becomes a drafter of chains, whose distributions convert to L.
///
///     choosing::AnyDrafter<> drafter = LookupDrafter();
///     if (has_draft) drafter = TreeDrafter(draft, {2, 2});       // draft(prefix) -> Row
///     Sampler sampler(std::move(drafter), target);
///
/// It drafts what the drafter inside drafts, and passes on what that is told: rollbacks, and where a text begins.
///
/// @tparam L   an Origin, for rows that are values and for point masses. For rows that are types, the distribution of
///             the most general drafter, such as TreeDrafter<Model>::Distribution
/// @cost       one indirect call per round; memory is allocated where it is made, and never again. A chain is drafted
///             to the full lookahead where a ChainDrafter would end it at the budget that is left: the same text
/// @throws     std::invalid_argument from propose, for a drafter that cannot draw with the target's noise, under a rule
///             that shares it
template <detail::NodeDistribution L = Origin>
class AnyDrafter {
    template <class D>
    using DrafterOf = typename detail::DrafterOf<D>::type;

  public:
    using Distribution = L;

    template <class D>
        requires(!std::same_as<D, AnyDrafter>)
    AnyDrafter(D drafter) {
        constexpr bool is_drafter = Drafter<D> || RowModel<D> || TokenModel<D>;
        static_assert(
            is_drafter,
            "specsample::choosing::AnyDrafter: the argument must be a drafter, or a model that is called with a "
            "token prefix and returns a row or a Token; write [](std::span<const specsample::Token> prefix) { "
            "... }");
        if constexpr (is_drafter) hold(std::move(drafter));
    }

    Index depth() const { return held_->depth(); }

    template <class Node>
        requires(std::same_as<Node, L> || std::same_as<Node, SharedNoise>)
    void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<Node>& draft_tree) {
        if constexpr (std::same_as<Node, L>)
            held_->propose(prefix, rng, draft_tree);
        else
            held_->propose_shared(prefix, rng, draft_tree);
    }

    void rollback(Index length) { held_->rollback(length); }
    void begin_text(Index prompt_size) { held_->begin_text(prompt_size); }
    /// Show the models that are held here.
    void add_to(detail::SharedModels& models) { held_->add_to(models); }

  private:
    struct Drafts {
        virtual ~Drafts() = default;
        virtual Index depth() const = 0;
        virtual void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<L>& draft_tree) = 0;
        virtual void propose_shared(std::span<const Token> prefix, const RoundRng& rng,
                                    DraftTree<SharedNoise>& draft_tree) = 0;
        virtual void rollback(Index length) = 0;
        virtual void begin_text(Index prompt_size) = 0;
        virtual void add_to(detail::SharedModels& models) = 0;
    };

    template <class D>
    void hold(D drafter) {
        constexpr bool fits = detail::Fills<DrafterOf<D>, L>;
        static_assert(fits,
                      "specsample::choosing::AnyDrafter: this drafter does not fill a DraftTree<L>; let L be the "
                      "distribution of the most general drafter, as in AnyDrafter<TreeDrafter<Model>::Distribution>, "
                      "or Origin where the models return Row, and let a propose of your own be a template of L");
        if constexpr (fits) held_ = std::make_unique<Held<DrafterOf<D>>>(DrafterOf<D>(std::move(drafter)));
    }

    template <class D>
    struct Held final : Drafts {
        explicit Held(D drafter) : given(std::move(drafter)) {}

        detail::Unwrapped<D>& drafter() { return given; }

        Index depth() const override { return detail::depth_of(given); }
        void propose(std::span<const Token> prefix, const RoundRng& rng, DraftTree<L>& draft_tree) override {
            drafter().propose(prefix, rng, draft_tree);
        }
        void propose_shared(std::span<const Token> prefix, const RoundRng& rng,
                            DraftTree<SharedNoise>& draft_tree) override {
            if constexpr (detail::SharedNoiseDrafter<D>)
                drafter().propose(prefix, rng, draft_tree);
            else
                detail::invalid("AnyDrafter", "the drafter", "one that draws with its own random numbers alone",
                                "one that can draw with the target's noise, which the rule shares");
        }
        void rollback([[maybe_unused]] Index length) override {
            if constexpr (Rewindable<D>) drafter().rollback(length);
        }
        void begin_text(Index prompt_size) override { detail::TextBegins{prompt_size}(given); }
        void add_to(detail::SharedModels& models) override { models.add(given); }

        D given;
    };

    std::unique_ptr<Drafts> held_;
};

}}}  // namespace specsample::choosing
