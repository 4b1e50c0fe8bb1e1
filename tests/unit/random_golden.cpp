// Golden numbers. RED HERE MEANS THAT THE SAME SEED NO LONGER GIVES THE SAME TEXT: token stability is broken for every
// user. If that is meant, print the new values with `specsample_test_unit "[golden]"`, bump the version in
// core/config.hpp and say so under "Token stability" in README.md; if it is not meant, the change is a bug. No value
// here depends on a compiler, on its flags or on the mathematics library: random numbers are integers and the models'
// rows are exact fractions.
#include <bit>
#include <vector>

#include <specsample/specsample.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

/// Rows of 256ths over seven tokens that depend on the last two tokens and on the name of the model.
struct Fractions {
    Index salt;

    Eigen::VectorXf operator()(std::span<const Token> prefix) const {
        const Index last = prefix.empty() ? 0 : prefix.back();
        const Index before = prefix.size() < 2 ? 0 : prefix[prefix.size() - 2];
        Eigen::VectorXf row(7);
        Index left = 256;
        for (Index i = 0; i < 6; ++i) {
            const Index share = (salt * 31 + last * 17 + before * 7 + i * 29) % 41;
            row[i] = static_cast<float>(share) / 256;
            left -= share;
        }
        row[6] = static_cast<float>(left) / 256;
        return row;
    }
};

std::vector<Token> text(Index lookahead, std::uint64_t seed, std::uint64_t request) {
    Sampler sampler(Fractions{1}, Fractions{2}, {.lookahead = lookahead, .seed = seed});
    return sampler.generate({1, 2, 3}, {.max_new_tokens = 32, .request = request});
}

}  // namespace

TEST_CASE("golden: the bits of random numbers", "[random][golden]") {
    struct Golden {
        Address address;
        std::uint32_t lane;
        std::uint64_t bits;
        double uniform;
    };
    const Golden table[] = {
        {{}, 0, 0xa36988f57aded6b4, 0x1.46d311eaf5bdap-1},
        {{.seed = 1}, 0, 0x527eac85911bf486, 0x1.49fab216446fcp-2},
        {{.seed = 42, .request = 7}, 0, 0xcbbfa78be713465c, 0x1.977f4f17ce268p-1},
        {{.seed = 42, .request = 7, .position = 100, .purpose = Purpose::accept, .node = 3},
         0,
         0x71532f8f4990e09c,
         0x1.c54cbe3d26438p-2},
        {{.seed = 42, .request = 7, .position = 100, .purpose = Purpose::last},
         0,
         0x57bcd5f14d400910,
         0x1.5ef357c535002p-2},
        {{.seed = 42, .position = 5, .purpose = Purpose::race}, 31999, 0xaf69b7ed1c76ec7a, 0x1.5ed36fda38eddp-1},
        {{.seed = 0xffff'ffff'ffff'ffff,
          .request = 0xffff'ffff,
          .position = 0xffff'ffff,
          .purpose = Purpose::policy,
          .node = 0xfff'ffff},
         0xffff'ffff,
         0xdb29b823a6a3307b,
         0x1.b65370474d466p-1},
    };
    for (const Golden& golden : table) {
        CHECK(Rng(golden.address).bits(golden.lane) == golden.bits);
        CHECK(Rng(golden.address).uniform(golden.lane) == golden.uniform);
    }
    CHECK(RoundRng(42, 7, 100).split(3).at(Purpose::accept, 1).bits() == 0x8d81cffcbcbd2018);
}

TEST_CASE("golden: a text of token verification", "[random][golden]") {
    CHECK(text(4, 42, 0) == std::vector<Token>{1, 6, 6, 6, 4, 2, 4, 2, 6, 5, 3, 1, 6, 2, 6, 5,
                                               6, 1, 5, 4, 6, 6, 4, 6, 6, 6, 6, 6, 2, 6, 6, 6});
}

TEST_CASE("golden: a text of another request", "[random][golden]") {
    CHECK(text(4, 42, 1) == std::vector<Token>{5, 1, 4, 5, 2, 1, 6, 2, 6, 6, 6, 1, 6, 6, 1, 1,
                                               6, 2, 2, 0, 5, 6, 6, 6, 6, 4, 1, 6, 6, 6, 6, 1});
}

TEST_CASE("golden: a text of plain decoding", "[random][golden]") {
    CHECK(text(0, 42, 0) == std::vector<Token>{4, 6, 6, 6, 1, 6, 5, 4, 6, 3, 6, 6, 6, 6, 2, 6,
                                               6, 6, 1, 5, 6, 1, 6, 6, 6, 6, 6, 6, 6, 2, 6, 5});
}

TEST_CASE("golden: sums and draws of float rows, to the bit on every machine", "[kernels][golden]") {
    std::uint64_t hash = 14695981039346656037u;  // Fowler, Noll and Vo's
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
    for (const Index vocab : {3, 100, 2048, 2049, 32000})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            Eigen::VectorXf p(vocab), q(vocab);
            for (Index i = 0; i < vocab; ++i) {
                const std::uint64_t bits = Rng({.seed = seed, .position = i}).bits();
                p[i] = static_cast<float>(bits & 0xff'ffff) * 0x1p-40f;
                q[i] = static_cast<float>(bits >> 40) * 0x1p-40f;
            }
            const auto target = detail::as_row(p), draft = detail::as_row(q);
            for (Index position = 0; position < 20; ++position) {
                const Rng random({.seed = seed, .position = position, .purpose = Purpose::last});
                for (const Drawn drawn :
                     {draw(random, RowWeights(target)), draw(random, ResidualWeights(target, draft))}) {
                    mix(static_cast<std::uint64_t>(drawn.index));
                    mix(std::bit_cast<std::uint64_t>(drawn.sum));
                }
            }
            mix(std::bit_cast<std::uint64_t>(overlap(q, p)));
        }
    CHECK(hash == 0xef07a38c2210cf10);
}
