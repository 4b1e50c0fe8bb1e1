// An engine on ONNX Runtime: its float16 logits are judged where the run left them.
//
// The models are generated, so that the program needs no file: two layers of attention with random weights, and a draft
// of one layer that is like it. engine_checks.hpp has the loop, and checks the texts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "engine_checks.hpp"

using namespace engine_checks;

namespace {

/// A causal model with random weights. Each of its slots keeps the logits of its last run.
class Model {
  public:
    Model(int layers, float noise) : weights_(noise), slots_(static_cast<std::size_t>(K)) {
        const std::string embedding = weights(V, D, 1), output = weights(V, D, .5f);
        std::string x = add("Gather", {embedding, "ids"});
        for (int layer = 0; layer < layers; ++layer) {
            const std::string queries = times(x), keys = times(x), values = times(x);
            // Weights of later positions are cut off before they are normalised.
            const std::string scores = add("MatMul", {queries, add("Transpose", {keys}, swapped())});
            const std::string scaled = add("Mul", {scores, numbers({1 / std::sqrt(float(D))}, {})});
            const std::string causal = add("Trilu", {add("Exp", {scaled})}, lower());
            const std::string sums = add("ReduceSum", {causal, integers({-1})});
            x = add("Tanh", {add("Add", {x, add("MatMul", {add("Div", {causal, sums}), values})})});
        }
        const std::string logits = add("MatMul", {x, add("Transpose", {output})});
        add("Cast", {logits}, to_half(), "logits");
        session_ = compiled();
    }

    /// Run a text in a slot. Returns the logits [count, V] of its last positions, valid until the slot's next use.
    const void* infer(const std::vector<Token>& text, Index count, Index slot) {
        std::vector<std::int64_t> ids(text.begin(), text.end());
        const std::int64_t shape[] = {1, std::ssize(text)};
        const auto input = Ort::Value::CreateTensor<std::int64_t>(memory_, ids.data(), ids.size(), shape, 2);
        const char *in = "ids", *out = "logits";
        auto& output = slots_[static_cast<std::size_t>(slot)];
        output = session_.Run(Ort::RunOptions(), &in, &input, 1, &out, 1);
        return output[0].GetTensorData<Ort::Float16_t>() + (std::ssize(text) - count) * V;
    }

  private:
    using Attributes = std::vector<Ort::OpAttr>;

    /// Add a node, and return the name of its output.
    std::string add(const std::string& op, const std::vector<std::string>& inputs, Attributes attributes = {},
                    std::string name = {}) {
        if (name.empty()) name = std::to_string(names_++);
        Ort::Node node(op, "", name, inputs, {name}, attributes);
        graph_.AddNode(node);
        return name;
    }
    static Attributes swapped() {
        static constexpr std::int64_t order[] = {0, 2, 1};
        return one("perm", order, 3, ORT_OP_ATTR_INTS);
    }
    static Attributes lower() {
        static constexpr std::int64_t upper = 0;
        return one("upper", &upper, 1, ORT_OP_ATTR_INT);
    }
    static Attributes to_half() {
        static constexpr std::int64_t type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
        return one("to", &type, 1, ORT_OP_ATTR_INT);
    }
    static Attributes one(const char* name, const std::int64_t* data, int count, OrtOpAttrType type) {
        Attributes attributes;
        attributes.emplace_back(name, data, count, type);
        return attributes;
    }

    /// Add a constant, and return its name.
    template <class T>
    std::string constant(const std::vector<T>& data, const std::vector<std::int64_t>& shape) {
        auto value = Ort::Value::CreateTensor<T>(Ort::AllocatorWithDefaultOptions(), shape.data(), shape.size());
        std::copy(data.begin(), data.end(), value.template GetTensorMutableData<T>());
        const std::string name = std::to_string(names_++);
        graph_.AddInitializer(name, value, false);
        return name;
    }
    std::string numbers(const std::vector<float>& data, const std::vector<std::int64_t>& shape) {
        return constant(data, shape);
    }
    std::string integers(const std::vector<std::int64_t>& data) { return constant(data, {std::ssize(data)}); }
    std::string weights(Index rows, Index columns, float scale) {
        return numbers(weights_(rows, columns, scale), {rows, columns});
    }
    std::string times(const std::string& x) { return add("MatMul", {x, weights(D, D, 1 / std::sqrt(float(D)))}); }

    Ort::Session compiled() {
        const auto tensor = [](const char* name, ONNXTensorElementDataType type,
                               const std::vector<std::int64_t>& shape) {
            const Ort::TensorTypeAndShapeInfo info(type, shape);
            return Ort::ValueInfo(name, Ort::TypeInfo::CreateTensorInfo(info.GetConst()).GetConst());
        };
        std::vector<Ort::ValueInfo> inputs, outputs;
        inputs.push_back(tensor("ids", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {1, -1}));
        outputs.push_back(tensor("logits", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {1, -1, V}));
        graph_.SetInputs(inputs);
        graph_.SetOutputs(outputs);
        Ort::Model model({{"", 18}});
        model.AddGraph(graph_);
        Ort::SessionOptions options;
        options.SetIntraOpNumThreads(1);
        return {env_, model, options};
    }

    Weights weights_;
    int names_ = 0;
    Ort::Env env_{};
    Ort::Graph graph_{};
    Ort::Session session_{nullptr};
    Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    std::vector<std::vector<Ort::Value>> slots_;
};

}  // namespace

int main() {
    Model target(2, 0), draft(1, .2f);
    return check(draft, target);
}
