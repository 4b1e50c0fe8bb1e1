// All public names as a C++20 module, for compilers that can make one:
//
//     clang++ -std=c++20 -I include -isystem /usr/include/eigen3 --precompile include/specsample/specsample.cppm -o specsample.pcm
//     clang++ -std=c++20 -fmodule-file=specsample=specsample.pcm -isystem /usr/include/eigen3 engine.cpp specsample.pcm
//
// A program includes what it names of the standard library and of Eigen itself; clang 16 also wants <optional>.
// .doxygen/module.cmake writes this file.
module;

#include <specsample/beam.hpp>
#include <specsample/concepts.hpp>
#include <specsample/core.hpp>
#include <specsample/drafters.hpp>
#include <specsample/kernels.hpp>
#include <specsample/length.hpp>
#include <specsample/lossy.hpp>
#include <specsample/metrics.hpp>
#include <specsample/models.hpp>
#include <specsample/random.hpp>
#include <specsample/rows.hpp>
#include <specsample/sampler.hpp>
#include <specsample/sampler_values.hpp>
#include <specsample/shaping.hpp>
#include <specsample/shard.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>
#include <specsample/tree.hpp>
#include <specsample/values.hpp>
#include <specsample/verify.hpp>
#include <specsample/vocabularies.hpp>
#include <specsample/verify/batch.hpp>

export module specsample;

export namespace specsample {
using specsample::Address;
using specsample::BatchModel;
using specsample::BatchWorkspace;
using specsample::BeamDrafter;
using specsample::BlockVerification;
using specsample::Cause;
using specsample::ChainDrafter;
using specsample::Check;
using specsample::ConfidenceStop;
using specsample::Cursor;
using specsample::DraftDistribution;
using specsample::DraftScore;
using specsample::DraftStop;
using specsample::DraftTree;
using specsample::DraftedFrom;
using specsample::Drafter;
using specsample::DynamicTree;
using specsample::DynamicTreeDrafter;
using specsample::EntropyStop;
using specsample::Fault;
using specsample::FinishReason;
using specsample::FirstOf;
using specsample::FixedLength;
using specsample::ForcedDrafter;
using specsample::Generation;
using specsample::GeneratorRng;
using specsample::GoodputLength;
using specsample::Grammar;
using specsample::GreedyMatch;
using specsample::GumbelMatch;
using specsample::HeuristicLength;
using specsample::Index;
using specsample::KSeq;
using specsample::LastToken;
using specsample::Length;
using specsample::Limits;
using specsample::ListRef;
using specsample::Logits;
using specsample::LookupDrafter;
using specsample::LookupOptions;
using specsample::Mixed;
using specsample::Model;
using specsample::NgramPool;
using specsample::Options;
using specsample::Origin;
using specsample::Outcome;
using specsample::Pipeline;
using specsample::PointMass;
using specsample::PoolDrafter;
using specsample::Purpose;
using specsample::RandomSource;
using specsample::RecursiveRejection;
using specsample::Request;
using specsample::Rewindable;
using specsample::Rng;
using specsample::Round;
using specsample::RoundContext;
using specsample::RoundCounts;
using specsample::RoundEnd;
using specsample::RoundLimits;
using specsample::RoundRng;
using specsample::Row;
using specsample::RowFault;
using specsample::RowLike;
using specsample::RowMajorMatrix;
using specsample::RowModel;
using specsample::RowReader;
using specsample::Rows;
using specsample::Rule;
using specsample::SampleMatch;
using specsample::Sampled;
using specsample::Sampler;
using specsample::SamplingParams;
using specsample::ScoredId;
using specsample::Scores;
using specsample::Shaper;
using specsample::SharedNoise;
using specsample::Side;
using specsample::Sparse;
using specsample::SpecInfer;
using specsample::StagedDrafter;
using specsample::StopDecision;
using specsample::SuffixLookupDrafter;
using specsample::SuffixLookupOptions;
using specsample::Tally;
using specsample::Token;
using specsample::TokenModel;
using specsample::TokenScore;
using specsample::TokenVerification;
using specsample::TraversalVerification;
using specsample::Tree;
using specsample::TreeDrafter;
using specsample::TreeModel;
using specsample::TreeShape;
using specsample::United;
using specsample::Workspace;
using specsample::accept;
using specsample::draft_scores;
using specsample::draft_token;
using specsample::draw;
using specsample::expansion_tree;
using specsample::from_logits;
using specsample::logits_of;
using specsample::member;
using specsample::message;
using specsample::most_drafted;
using specsample::no_node;
using specsample::race;
using specsample::root_node;
using specsample::rows_in_memory;
using specsample::shape;
using specsample::shaped;
using specsample::slice;
using specsample::sparse_tree;
using specsample::token_scores;
using specsample::tree_of_paths;
using specsample::unlimited;
using specsample::verify;
using specsample::verify_batch;
using specsample::write_padded;
}  // namespace specsample

export namespace specsample::ahead {
using specsample::ahead::OutcomeTable;
using specsample::ahead::RoundOutcome;
using specsample::ahead::likely_outcomes;
}  // namespace specsample::ahead

export namespace specsample::attention {
using specsample::attention::IntegerList;
using specsample::attention::ancestor_bits;
using specsample::attention::ancestor_mask;
using specsample::attention::leaf_paths;
using specsample::attention::mask_words;
using specsample::attention::position_ids;
using specsample::attention::with_root;
}  // namespace specsample::attention

export namespace specsample::beam {
using specsample::beam::Beam;
using specsample::beam::BeamOptions;
using specsample::beam::BeamResult;
using specsample::beam::BeamSearch;
}  // namespace specsample::beam

export namespace specsample::children {
using specsample::children::GreedyChildren;
using specsample::children::Independent;
using specsample::children::TopChildren;
using specsample::children::WithoutReplacement;
}  // namespace specsample::children

export namespace specsample::choosing {
using specsample::choosing::AnyDrafter;
using specsample::choosing::BestOf;
using specsample::choosing::OverlapOptions;
using specsample::choosing::Overlaps;
using specsample::choosing::Watched;
}  // namespace specsample::choosing

export namespace specsample::confidence {
using specsample::confidence::Estimator;
using specsample::confidence::GoodputStop;
using specsample::confidence::of;
}  // namespace specsample::confidence

export namespace specsample::filters {
using specsample::filters::AnyMask;
using specsample::filters::BadWords;
using specsample::filters::Bias;
using specsample::filters::Candidates;
using specsample::filters::Dry;
using specsample::filters::DynamicTemperature;
using specsample::filters::EpsilonCutoff;
using specsample::filters::EtaCutoff;
using specsample::filters::FrequencyPenalty;
using specsample::filters::FutureWeights;
using specsample::filters::LogitBias;
using specsample::filters::MinP;
using specsample::filters::MinTokens;
using specsample::filters::NoRepeatNgram;
using specsample::filters::NumberKind;
using specsample::filters::Outlook;
using specsample::filters::PresencePenalty;
using specsample::filters::Reach;
using specsample::filters::RepetitionPenalty;
using specsample::filters::ShapedMemory;
using specsample::filters::ShapedRow;
using specsample::filters::Temperature;
using specsample::filters::ThinkingBudget;
using specsample::filters::TokenMask;
using specsample::filters::TopK;
using specsample::filters::TopNSigma;
using specsample::filters::TopP;
using specsample::filters::TypicalP;
using specsample::filters::Window;
using specsample::filters::Xtc;
using specsample::filters::keep_where;
using specsample::filters::whole_context;
using specsample::filters::whole_prompt;
}  // namespace specsample::filters

export namespace specsample::heads {
using specsample::heads::HeadsDrafter;
using specsample::heads::HeadsModel;
using specsample::heads::HeadsTreeDrafter;
using specsample::heads::HybridDrafter;
}  // namespace specsample::heads

export namespace specsample::kernels {
using specsample::kernels::BlockSums;
using specsample::kernels::Drawn;
using specsample::kernels::LaneNoise;
using specsample::kernels::LogitSums;
using specsample::kernels::LogitWeights;
using specsample::kernels::ResidualWeights;
using specsample::kernels::RestSums;
using specsample::kernels::RowWeights;
using specsample::kernels::RunningSums;
using specsample::kernels::SelectionScratch;
using specsample::kernels::SummedWeights;
using specsample::kernels::TypicalScratch;
using specsample::kernels::Weights;
using specsample::kernels::WithoutWeights;
using specsample::kernels::argmax;
using specsample::kernels::draw_index;
using specsample::kernels::entropy;
using specsample::kernels::id_of;
using specsample::kernels::inspect;
using specsample::kernels::log_sum_exp;
using specsample::kernels::one_hot;
using specsample::kernels::overlap;
using specsample::kernels::probs_of;
using specsample::kernels::race_weights;
using specsample::kernels::race_winner;
using specsample::kernels::race_winners;
using specsample::kernels::row_weights;
using specsample::kernels::select_at_least;
using specsample::kernels::select_mass;
using specsample::kernels::select_top;
using specsample::kernels::select_typical;
using specsample::kernels::softmax;
using specsample::kernels::sum_tolerance;
using specsample::kernels::summed;
using specsample::kernels::top_ids;
using specsample::kernels::total_of;
}  // namespace specsample::kernels

export namespace specsample::lattice {
using specsample::lattice::Block;
using specsample::lattice::Drafter;
using specsample::lattice::Model;
using specsample::lattice::NoScores;
}  // namespace specsample::lattice

export namespace specsample::lossy {
using specsample::lossy::BigLittle;
using specsample::lossy::Cactus;
using specsample::lossy::Cascade;
using specsample::lossy::Chow;
using specsample::lossy::Classified;
using specsample::lossy::Diff;
using specsample::lossy::DraftedToken;
using specsample::lossy::Fuzzy;
using specsample::lossy::GreedyLenience;
using specsample::lossy::JensenShannon;
using specsample::lossy::JudgingRule;
using specsample::lossy::KullbackLeibler;
using specsample::lossy::Lenience;
using specsample::lossy::LenientResidual;
using specsample::lossy::LossyRule;
using specsample::lossy::MedianScales;
using specsample::lossy::Mentored;
using specsample::lossy::Opt;
using specsample::lossy::PathHeuristic;
using specsample::lossy::PathSums;
using specsample::lossy::Paths;
using specsample::lossy::RatioThreshold;
using specsample::lossy::RatioToken;
using specsample::lossy::Recovery;
using specsample::lossy::RelaxedTopN;
using specsample::lossy::ReverseKullbackLeibler;
using specsample::lossy::RunnerUp;
using specsample::lossy::SelfDescribing;
using specsample::lossy::TokenFor;
using specsample::lossy::TokenV1;
using specsample::lossy::TokenV2;
using specsample::lossy::TokenV3;
using specsample::lossy::TopKMembership;
using specsample::lossy::TotalVariation;
using specsample::lossy::Transformed;
using specsample::lossy::TreeThresholds;
using specsample::lossy::TypicalAcceptance;
using specsample::lossy::UniformBound;
using specsample::lossy::Wasserstein;
using specsample::lossy::acceptance;
using specsample::lossy::arithmetic_mean;
using specsample::lossy::chances;
using specsample::lossy::decide;
using specsample::lossy::geometric_mean;
using specsample::lossy::judge;
using specsample::lossy::output_distribution;
using specsample::lossy::product;
using specsample::lossy::total_variation_from_target;
}  // namespace specsample::lossy

export namespace specsample::metrics {
using specsample::metrics::Audit;
using specsample::metrics::Estimate;
using specsample::metrics::Label;
using specsample::metrics::LabelledTally;
using specsample::metrics::Moments;
using specsample::metrics::OverlapEstimate;
using specsample::metrics::PositionCounts;
using specsample::metrics::cause_count;
using specsample::metrics::estimate_acceptance;
using specsample::metrics::name_of;
using specsample::metrics::report;
using specsample::metrics::to_json;
using specsample::metrics::to_prometheus;
using specsample::metrics::z95;
}  // namespace specsample::metrics

export namespace specsample::recurrent {
using specsample::recurrent::Model;
using specsample::recurrent::Rewound;
}  // namespace specsample::recurrent

export namespace specsample::recycling {
using specsample::recycling::Recorded;
using specsample::recycling::Table;
using specsample::recycling::TableOptions;
}  // namespace specsample::recycling

export namespace specsample::shard {
using specsample::shard::Communicator;
using specsample::shard::GatheredNumbers;
using specsample::shard::Message;
using specsample::shard::OneRank;
using specsample::shard::Ranks;
using specsample::shard::Sharded;
using specsample::shard::SliceBounds;
using specsample::shard::Thread;
using specsample::shard::ThreadGroup;
using specsample::shard::Traffic;
using specsample::shard::even_slice;
}  // namespace specsample::shard

export namespace specsample::stop_strings {
using specsample::stop_strings::Reply;
}  // namespace specsample::stop_strings

export namespace specsample::testing {
using specsample::testing::ContextModel;
using specsample::testing::CountingRng;
using specsample::testing::EnumeratedRng;
using specsample::testing::Enumerator;
using specsample::testing::FixedModel;
using specsample::testing::Nudged;
using specsample::testing::RowKind;
using specsample::testing::ScriptedRng;
using specsample::testing::TextDistribution;
using specsample::testing::all_texts;
using specsample::testing::both_win;
using specsample::testing::complete;
using specsample::testing::distance_from_target;
using specsample::testing::exact_distribution;
using specsample::testing::exact_tokens;
using specsample::testing::for_rounds;
using specsample::testing::joint_distribution;
using specsample::testing::round_distribution;
using specsample::testing::total_variation;
using specsample::testing::winner_given;
}  // namespace specsample::testing

export namespace specsample::theory {
using specsample::theory::BestTree;
using specsample::theory::CapacityRate;
using specsample::theory::ConditionalRate;
using specsample::theory::CostCurve;
using specsample::theory::CostTable;
using specsample::theory::DraftedRate;
using specsample::theory::FlatCost;
using specsample::theory::RankAcceptance;
using specsample::theory::Replay;
using specsample::theory::VerifyCost;
using specsample::theory::acceptance;
using specsample::theory::best_lookahead;
using specsample::theory::best_lookaheads;
using specsample::theory::best_tree;
using specsample::theory::capacity_rate;
using specsample::theory::conditional_rate;
using specsample::theory::continuous_lookahead;
using specsample::theory::drafted_rate;
using specsample::theory::expected_path_value;
using specsample::theory::expected_tokens;
using specsample::theory::one_round_bound_of_path;
using specsample::theory::operations_factor;
using specsample::theory::sparse_tree_tokens;
using specsample::theory::speedup;
using specsample::theory::total_variation;
using specsample::theory::transport_bound;
using specsample::theory::transport_bound_greedy;
using specsample::theory::transport_bound_without_replacement;
using specsample::theory::verify_lengths;
}  // namespace specsample::theory

export namespace specsample::vocabularies {
using specsample::vocabularies::IdMap;
using specsample::vocabularies::Mapped;
using specsample::vocabularies::OwnIds;
using specsample::vocabularies::PrefixMapped;
using specsample::vocabularies::ReducedIdMap;
using specsample::vocabularies::Reencoded;
using specsample::vocabularies::ShortContext;
using specsample::vocabularies::TargetIds;
using specsample::vocabularies::TokenMapped;
using specsample::vocabularies::VocabularyDifference;
using specsample::vocabularies::covered_mass;
using specsample::vocabularies::mapped;
using specsample::vocabularies::mapped_mass;
using specsample::vocabularies::message;
using specsample::vocabularies::prefix_mapped;
using specsample::vocabularies::push_forward;
using specsample::vocabularies::reduce_mask;
using specsample::vocabularies::vocabulary_difference;
using specsample::vocabularies::vocabulary_intersection;
}  // namespace specsample::vocabularies

export namespace specsample::walks {
using specsample::walks::Decision;
using specsample::walks::DraftContext;
using specsample::walks::MatchRule;
using specsample::walks::NodeRow;
using specsample::walks::Ratio;
using specsample::walks::RejectedChildren;
using specsample::walks::ResidualTarget;
using specsample::walks::RoughSum;
using specsample::walks::TopDownNode;
using specsample::walks::accept_ratio;
using specsample::walks::bottom_up;
using specsample::walks::ids_per_attempt;
using specsample::walks::match;
using specsample::walks::top_down;
}  // namespace specsample::walks

export namespace specsample::watermark {
using specsample::watermark::Evidence;
using specsample::watermark::Mark;
using specsample::watermark::Source;
using specsample::watermark::evidence;
}  // namespace specsample::watermark

export namespace specsample::wire {
using specsample::wire::Draft;
using specsample::wire::Fault;
using specsample::wire::message;
}  // namespace specsample::wire

// What values need is compiled here: clang 16 does not find the overloads that these call where a program that imports the
// module would instantiate them.
namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {
template std::span<const DraftScore> score_values(const Links&, std::span<const Token>, const Origins&, const Rows&,
                                                  const RoundRng&, const Round&, Scores&);
template std::span<const TokenScore> score_emitted(const Round&, const Rows&, Scores&, Index);
}}}
