import assert from "node:assert/strict";
import { couldMatter } from "../../../server/src/analysis";

describe("files that are looked into", () => {
  it("name a library that trains, or our comments", () => {
    for (const text of ["import torch", "from pytorch_lightning import Trainer", "# vram: device=24GB"])
      assert.ok(couldMatter(text), text);
  });

  it("call what only models, losses and optimizers have, wherever PyTorch comes from", () => {
    for (const line of [
      "loss.backward()",
      "optimizer.zero_grad()",
      "model.eval()",
      "x = x.cuda()",
      "best = model.state_dict()",
      "with no_grad():",
    ])
      assert.ok(couldMatter(`from common import *\n\n${line}\n`), line);
  });

  it("are no others", () => {
    for (const text of ["import numpy as np", "df.eval('a + b')", "def train(model):\n    model.fit(x, y)\n"])
      assert.ok(!couldMatter(text), text);
  });
});
