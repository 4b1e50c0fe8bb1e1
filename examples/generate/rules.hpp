// The rules that a program can choose from when it runs.
#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>

#include <specsample/specsample.hpp>

enum class RuleKind { token, block, traversal, gumbel, match };

inline constexpr std::pair<std::string_view, RuleKind> rule_kinds[]{{"token", RuleKind::token},
                                                                    {"block", RuleKind::block},
                                                                    {"traversal", RuleKind::traversal},
                                                                    {"gumbel", RuleKind::gumbel},
                                                                    {"match", RuleKind::match}};

inline std::string_view name(RuleKind rule) {
    for (const auto& [name, kind] : rule_kinds)
        if (kind == rule) return name;
    return "";
}

/// Returns use(rule) with a rule of this kind.
template <class Use>
decltype(auto) with_rule(RuleKind kind, Use&& use) {
    switch (kind) {
        case RuleKind::token:
            return use(specsample::TokenVerification{});
        case RuleKind::block:
            return use(specsample::BlockVerification{});
        case RuleKind::traversal:
            return use(specsample::TraversalVerification{});
        case RuleKind::gumbel:
            return use(specsample::GumbelMatch{});
        case RuleKind::match:
            return use(specsample::SampleMatch{});
    }
    throw std::logic_error("with_rule: not a kind of rule");
}
