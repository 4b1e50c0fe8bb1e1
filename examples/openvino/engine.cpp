// An engine on OpenVINO: its float16 logits are judged where the inference left them.
//
// The models are generated, so that the program needs no file: two layers of attention with random weights, and a draft
// of one layer that is like it. engine_checks.hpp has the loop, and checks the texts.
#include <algorithm>
#include <cmath>
#include <vector>

#include <openvino/openvino.hpp>
#include <openvino/opsets/opset13.hpp>

#include "engine_checks.hpp"

using namespace engine_checks;
namespace op = ov::opset13;

namespace {

/// A causal model with random weights. Each of its slots keeps the logits of its last inference.
class Model {
  public:
    Model(int layers, float noise) : weights_(noise) {
        const auto ids = std::make_shared<op::Parameter>(ov::element::i64, ov::PartialShape{1, -1});
        const auto embedding = weights(V, D, 1), output = weights(V, D, .5f);
        const auto rows = op::Constant::create(ov::element::i64, {}, {0});
        ov::Output<ov::Node> x = std::make_shared<op::Gather>(embedding, ids, rows);
        for (int layer = 0; layer < layers; ++layer) {
            const auto attended = std::make_shared<op::ScaledDotProductAttention>(times(x), times(x), times(x), true);
            x = std::make_shared<op::Tanh>(std::make_shared<op::Add>(x, attended));
        }
        const auto logits = std::make_shared<op::MatMul>(x, output, false, true);
        const auto half = std::make_shared<op::Convert>(logits, ov::element::f16);
        auto compiled = ov::Core().compile_model(
            std::make_shared<ov::Model>(ov::OutputVector{half}, ov::ParameterVector{ids}), "CPU",
            ov::hint::inference_precision(ov::element::f32), ov::inference_num_threads(1));
        for (Index i = 0; i < K; ++i) slots_.push_back(compiled.create_infer_request());
    }

    /// Infer a text in a slot. Returns the logits [count, V] of its last positions, valid until the slot's next use.
    const void* infer(const std::vector<Token>& text, Index count, Index slot) {
        ov::InferRequest& request = slots_[static_cast<std::size_t>(slot)];
        ov::Tensor ids(ov::element::i64, {1, text.size()});
        std::copy(text.begin(), text.end(), ids.data<std::int64_t>());
        request.set_input_tensor(ids);
        request.infer();
        return request.get_output_tensor().data<ov::float16>() + (std::ssize(text) - count) * V;
    }

  private:
    std::shared_ptr<op::Constant> weights(Index rows, Index columns, float scale) {
        const std::vector<float> numbers = weights_(rows, columns, scale);
        return op::Constant::create(ov::element::f32,
                                    {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, numbers);
    }
    ov::Output<ov::Node> times(const ov::Output<ov::Node>& x) {
        return std::make_shared<op::MatMul>(x, weights(D, D, 1 / std::sqrt(float(D))), false, true);
    }

    Weights weights_;
    std::vector<ov::InferRequest> slots_;
};

}  // namespace

int main() {
    Model target(2, 0), draft(1, .2f);
    return check(draft, target);
}
