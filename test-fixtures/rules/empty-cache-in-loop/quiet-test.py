# A test that compares two implementations round after round trains nothing.
import unittest

import torch
from torch import nn


class TestBlocks(unittest.TestCase):
    def check(self, first, second):
        for _ in range(50):
            x = torch.rand(8, 16, device="cuda", requires_grad=True)
            first(x).sum().backward()
            torch.cuda.empty_cache()
            second(x).sum().backward()
            torch.cuda.empty_cache()

    def test_same(self):
        self.check(nn.Linear(16, 16).cuda(), nn.Linear(16, 16).cuda())
