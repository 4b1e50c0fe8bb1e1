// A round needs little stack: fibers and the threads of some C libraries have 128 kB of it, or less.
//
// A thread runs rounds on memory of the test's own, filled with a pattern, and the lowest byte that was written tells
// how much was used. A sanitizer's own frames are larger, so that nothing is measured under one.
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <specsample/drafters.hpp>

#include "support/catch.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SPECSAMPLE_TEST_SANITIZED
#endif
#endif
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(SPECSAMPLE_TEST_SANITIZED)

#include <pthread.h>

using namespace specsample;

namespace {

constexpr std::size_t most_stack = 32 * 1024, stack_size = 1024 * 1024, page = 4096;
constexpr Index vocab = 5000;

/// The bytes of stack that a thread uses to call f.
std::size_t stack_of(const std::function<void()>& f) {
    constexpr std::byte pattern{0xa5};
    std::vector<std::byte> memory(stack_size + page, pattern);
    const std::size_t to_page = page - reinterpret_cast<std::uintptr_t>(memory.data()) % page;
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstack(&attributes, memory.data() + to_page, stack_size) == 0);
    const auto call = [](void* function) -> void* {
        (*static_cast<const std::function<void()>*>(function))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&f)) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    const auto lowest = std::ranges::find_if(memory, [&](std::byte byte) { return byte != pattern; });
    return static_cast<std::size_t>(memory.begin() + static_cast<std::ptrdiff_t>(to_page + stack_size) - lowest);
}

/// The same, less what a thread needs by itself.
template <class F>
std::size_t own_stack_of(const F& f) {
    static const std::size_t of_thread = stack_of([] {});
    f();  // what is made at the first call
    return stack_of(f) - of_thread;
}

/// Logits that depend on the last token.
template <class Scalar>
struct AfterLast {
    unsigned salt;
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> operator()(std::span<const Token> prefix) const {
        Eigen::Matrix<Scalar, Eigen::Dynamic, 1> row(vocab);
        unsigned x = salt + 77 * static_cast<unsigned>(prefix.empty() ? 0 : prefix.back());
        for (Index i = 0; i < vocab; ++i) {
            x = x * 1664525 + 1013904223;
            row[i] = static_cast<Scalar>(static_cast<float>(x >> 8) * 0x1p-21f);
        }
        return row;
    }
};

template <class Draft, class Target, class Rule = TokenVerification>
void check_rounds(const std::string& name, const Draft& draft, const Target& target, const Rule& rule = {}) {
    Sampler sampler(draft, target, {.lookahead = 4, .seed = 3}, rule);
    const std::vector<Token> text{1, 2, 3};
    CAPTURE(name);
    CHECK(own_stack_of([&] { (void)sampler.step(text); }) < most_stack);
}

}  // namespace

TEMPLATE_TEST_CASE("a round takes less than 32 kB of stack", "[sampler]", float, double, Eigen::half) {
    const auto draft = from_logits(AfterLast<TestType>{1}, .8), target = from_logits(AfterLast<TestType>{2}, .8);
    check_rounds("token", draft, target);
    check_rounds("block", draft, target, BlockVerification{});
    check_rounds("greedy", draft, target, GreedyMatch{});
    check_rounds("sample", draft, target, SampleMatch{});
    check_rounds("Gumbel", draft, target, GumbelMatch{});

    const TreeDrafter tree(draft, {3, 2, 2});
    check_rounds("a tree", tree, target);
    check_rounds("a tree, traversal", tree, target, TraversalVerification{});
    check_rounds("a tree, Gumbel", tree, target, GumbelMatch{});
    check_rounds("independent children", TreeDrafter(draft, {3, 2}, children::Independent{}), target);
    check_rounds("greedy children", TreeDrafter(draft, {3, 2}, children::GreedyChildren{}), target);
    check_rounds("lookup", LookupDrafter(), target);

    const SamplingParams params{.temperature = .8, .top_k = 50, .top_p = .9, .min_p = .01, .presence_penalty = .1};
    const auto shape = [&](unsigned salt) {
        return shaped(from_logits(AfterLast<TestType>{salt}), SamplingParams(params));
    };
    check_rounds("shaped", shape(1), shape(2));
    check_rounds("shaped, block", shape(1), shape(2), BlockVerification{});
    check_rounds("shaped, Gumbel", shape(1), shape(2), GumbelMatch{});
    check_rounds("a shaped tree", TreeDrafter(shape(1), {3, 2}), shape(2));
}

TEMPLATE_TEST_CASE("a race takes less than 24 kB of stack", "[sampler]", float, double, Eigen::half) {
    const auto row = AfterLast<TestType>{3}(std::vector<Token>{1});
    const auto weights = (row.template cast<float>().array() * .5f).matrix();
    const Rng rng({.seed = 1});
    constexpr std::size_t most = 24 * 1024;
    for (const std::size_t places : {1u, 10u, 64u, 300u}) {
        std::vector<Token> winners(places);
        CHECK(own_stack_of([&] { race(rng, row, winners); }) < most);
        CHECK(own_stack_of([&] { race(rng, weights, winners); }) < most);
        CHECK(own_stack_of([&] { race(rng, Logits(row, .5), winners); }) < most);
        std::vector<Token> ids(vocab);
        for (Index i = 0; i < vocab; ++i) ids[static_cast<std::size_t>(i)] = static_cast<Token>(40 * i);
        CHECK(own_stack_of([&] { race(rng, Sparse(ids, row, 40 * vocab), winners); }) < most);
    }
}

#endif
