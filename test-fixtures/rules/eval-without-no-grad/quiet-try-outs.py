"""Made-up data only to see what comes out, and one layer of a computation that merely sounds like an evaluation."""
import torch
from torch import nn


def output_width(conv, channels):
    x = torch.randn(10, channels, 200, 80)
    x = conv(x)
    return x.transpose(1, 2).size(-1)


def infer_conv_output_dim(in_channels, out_channels):
    x = torch.randn(10, in_channels, 200)
    x = nn.Conv1d(in_channels, out_channels, 3, stride=2)(x)
    batch, sequence = x.size()[:2]
    return batch, sequence


def sample_logits(embedding, bias, labels, sampler):
    negatives = sampler.sample(labels)
    ids = torch.cat([labels.view(-1), negatives])
    return embedding(ids) + bias[ids]


def student_widths(student):
    student.eval()
    features, _ = student(torch.randn(2, 3, 32, 32))
    return [feature.shape[1] for feature in features]


def test_features(net, images):
    output, features = net(images, True)
    print("type", type(output), len(features))
    for index, feature in enumerate(features):
        print(index, feature.size())


if __name__ == "__main__":
    embedding = nn.Embedding(1000, 64)
    sample_logits(embedding, torch.zeros(1000), torch.randint(1000, (8,)), torch.distributions.Uniform(0, 1000))
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).cuda()
    net.eval()
    x = torch.randn(16, 3, 640, 480).cuda()
    out = net(x)
    print(out.shape)
    net.fuse()
    fused = net(x)
    print("difference", ((fused - out) ** 2).sum())
    test_features(net, x)
