// Drafters of every kind behind one type, so that a program can choose one when it runs.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <specsample/specsample.hpp>

/// A model that returns its rows by value.
using DraftModel = std::function<Eigen::VectorXf(std::span<const specsample::Token>)>;

/// Any drafter over rows of that type. Its distribution type can hold the draft distributions of all of them.
class AnyDrafter {
  public:
    using Distribution = specsample::TreeDrafter<DraftModel>::Distribution;

    template <specsample::Drafter D>
        requires(!std::same_as<D, AnyDrafter>)
    AnyDrafter(D drafter) : drafter_(std::make_unique<Kind<D>>(std::move(drafter))) {}

    void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                 specsample::DraftTree<Distribution>& draft_tree) {
        drafter_->propose(prefix, rng, draft_tree);
    }
    void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                 specsample::DraftTree<specsample::SharedNoise>& draft_tree) {
        drafter_->propose(prefix, rng, draft_tree);
    }
    void rollback(specsample::Index length) { drafter_->rollback(length); }

  private:
    struct Interface {
        virtual ~Interface() = default;
        virtual void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                             specsample::DraftTree<Distribution>& draft_tree) = 0;
        virtual void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                             specsample::DraftTree<specsample::SharedNoise>& draft_tree) = 0;
        virtual void rollback(specsample::Index length) = 0;
    };

    template <class D>
    struct Kind final : Interface {
        explicit Kind(D given) : drafter(std::move(given)) {}
        void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                     specsample::DraftTree<Distribution>& draft_tree) override {
            drafter.propose(prefix, rng, draft_tree);
        }
        void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                     specsample::DraftTree<specsample::SharedNoise>& draft_tree) override {
            drafter.propose(prefix, rng, draft_tree);
        }
        void rollback([[maybe_unused]] specsample::Index length) override {
            if constexpr (specsample::Rewindable<D>) drafter.rollback(length);
        }
        D drafter;
    };

    std::unique_ptr<Interface> drafter_;
};

/// A drafter that calls a function before each of its rounds.
class PreparedDrafter {
  public:
    using Distribution = AnyDrafter::Distribution;

    PreparedDrafter(std::function<void(std::span<const specsample::Token>)> prepare, AnyDrafter drafter)
        : prepare_(std::move(prepare)), drafter_(std::move(drafter)) {}

    template <class L>
    void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                 specsample::DraftTree<L>& draft_tree) {
        prepare_(prefix);
        drafter_.propose(prefix, rng, draft_tree);
    }

  private:
    std::function<void(std::span<const specsample::Token>)> prepare_;
    AnyDrafter drafter_;
};
