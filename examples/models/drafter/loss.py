"""How far a draft's distribution is from the target's, without keeping the logits of every place."""
import torch

PLACES = 256  # whose logits are held at a time: they stay in the cache


class Distance(torch.autograd.Function):
    """The mean over n places of the cross entropy -sum_k w_k log q_k, and `rejected` times the probability that a token
    drawn from q is rejected, 1 - sum_k min(w_k, q_k), where q_k = softmax(E g)[i_k].

    g: [n, dim]. E: [ids, dim], which is not trained; products have its type. i, w: [n, top], ids with their weights;
    what the weights lack of 1 is left out. The gradient is computed along with the value: the logits are not kept.
    """

    @staticmethod
    def forward(context, g, classifier, ids, weights, rejected):
        total, gradient = 0.0, torch.empty_like(g)
        for begin in range(0, len(g), PLACES):
            part = slice(begin, begin + PLACES)
            w, i = weights[part], ids[part]
            logits = (g[part].to(classifier.dtype) @ classifier.t()).float()
            q = logits.log_softmax(-1)
            total -= float((w * q.gather(-1, i)).sum())
            q = q.exp_()
            at_ids = q.gather(-1, i)
            total += rejected * float((1 - torch.minimum(w, at_ids).sum(-1)).sum())
            pulled = w + rejected * at_ids * (at_ids < w)  # the gradient is q times its sum, less it
            of_logits = q.mul_(pulled.sum(-1, keepdim=True)).scatter_add_(-1, i, -pulled)
            gradient[part] = of_logits.to(classifier.dtype) @ classifier
        context.save_for_backward(gradient / len(g))
        return g.new_tensor(total / len(g))

    @staticmethod
    def backward(context, scale):
        return scale * context.saved_tensors[0], None, None, None, None
