"""How far a draft's distribution is from the target's, without keeping the logits of every place."""
import torch

PLACES = 256  # whose logits are held at a time: they stay in the cache


class CrossEntropy(torch.autograd.Function):
    """The mean over n places of -sum_k w_k log softmax(E g)[i_k].

    g: [n, dim]. E: [ids, dim], which is not trained; products have its type. i, w: [n, top], ids with their weights;
    what the weights lack of 1 is left out. The gradient is computed along with the value: the logits are not kept.
    """

    @staticmethod
    def forward(context, g, classifier, ids, weights):
        total, gradient = 0.0, torch.empty_like(g)
        for begin in range(0, len(g), PLACES):
            part = slice(begin, begin + PLACES)
            w = weights[part] / len(g)
            mass = w.sum(-1)
            logits = (g[part].to(classifier.dtype) @ classifier.t()).float()
            total -= float((w * logits.gather(-1, ids[part])).sum())
            largest = logits.amax(-1, keepdim=True)
            exponentials = logits.sub_(largest).exp_()
            sums = exponentials.sum(-1)
            total += float((mass * (sums.log() + largest[:, 0])).sum())
            of_logits = exponentials.mul_((mass / sums)[:, None]).scatter_add_(-1, ids[part], -w)
            gradient[part] = of_logits.to(classifier.dtype) @ classifier
        context.save_for_backward(gradient)
        return g.new_tensor(total)

    @staticmethod
    def backward(context, scale):
        return scale * context.saved_tensors[0], None, None, None
