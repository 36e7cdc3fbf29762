import assert from "node:assert/strict";
import { render } from "../../../server/src/messages/message";
import { applyEdits } from "../../../server/src/rules/fix";
import { checkRule } from "../../support/check";
import { loadParser } from "../../support/parser";

const head = `import torch
from torch import nn
import torch.nn.functional as F
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
loader = torch.utils.data.DataLoader(data, batch_size=8)
k = 4
`;

/** The text after the first fix of the only finding. */
function fixed(rule: string, text: string): string {
  const [finding, other] = checkRule(rule, text);
  assert.ok(finding !== undefined && other === undefined);
  const [fix] = finding.fixes;
  assert.ok(fix !== undefined, "no fix");
  const result = applyEdits(text, fix.edits);
  checkRule(rule, result.replace(/ *# expect: .*/g, ""));
  return result;
}

describe("rules on the training loop", () => {
  before(loadParser);

  describe("missing-zero-grad", () => {
    it("is one lower for an optimizer known by its name only, and says if", () => {
      const [finding] = checkRule(
        "missing-zero-grad",
        `import torch
def train(net, optimizer, loader, criterion):
    for x, y in loader:
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
`,
      );
      assert.ok(finding !== undefined);
      assert.equal(finding.level, "warning");
      assert.match(render(finding.message, "en"), /^If `optimizer` is a PyTorch optimizer/);
    });

    it("knows the optimizer of a parameter from the caller", () => {
      const [finding] = checkRule(
        "missing-zero-grad",
        `${head}
def train(opt):
    for x, y in loader:
        criterion(model(x), y).backward()
        opt.step()  # expect: missing-zero-grad
train(optimizer)
`,
      );
      assert.equal(finding?.level, "error");
    });

    it("tells a reset outside the loop from none", () => {
      const [finding] = checkRule(
        "missing-zero-grad",
        `${head}
for epoch in range(3):
    optimizer.zero_grad()
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()  # expect: missing-zero-grad
`,
      );
      assert.match(finding ? render(finding.message, "en") : "", /since the reset outside this loop/);
      assert.equal(finding?.related.length, 3);
    });

    it("needs every caller to miss it", () => {
      const text = (zeroing: string): string => `${head}
def step(x, y):
    criterion(model(x), y).backward()
    optimizer.step()
def a():
    for x, y in loader:
        ${zeroing}
        step(x, y)
`;
      checkRule("missing-zero-grad", text("optimizer.zero_grad()"));
      checkRule(
        "missing-zero-grad",
        text("pass").replace("optimizer.step()", "optimizer.step()  # expect: missing-zero-grad"),
      );
    });

    const quiet: readonly (readonly [string, string])[] = [
      [
        "a fresh optimizer each time",
        "    opt = torch.optim.Adam([x])\n    x.sum().backward()\n    opt.step()",
      ],
      ["a loop that runs once", "    criterion(model(x), y).backward()\n    optimizer.step()\n    break"],
      [
        "unknown code with the optimizer",
        "    before(optimizer)\n    criterion(model(x), y).backward()\n    optimizer.step()",
      ],
      [
        "unknown code with the model",
        "    prepare(model)\n    criterion(model(x), y).backward()\n    optimizer.step()",
      ],
      ["callbacks", "    callbacks.begin()\n    criterion(model(x), y).backward()\n    optimizer.step()"],
      [
        "a lambda",
        "    reset = lambda: optimizer.zero_grad()\n    reset()\n    criterion(model(x), y).backward()\n    optimizer.step()",
      ],
      [
        "a conditional reset",
        "    if y:\n        optimizer.zero_grad()\n    criterion(model(x), y).backward()\n    optimizer.step()",
      ],
      [
        "distributed autograd",
        "    torch.distributed.autograd.backward(c, [model(x)])\n    optimizer.step(c)",
      ],
    ];
    for (const [name, body] of quiet) {
      it(`stays quiet: ${name}`, () =>
        void checkRule("missing-zero-grad", `${head}for x, y in loader:\n${body}\n`));
    }

    it("puts the reset before the backward, or behind the step when it accumulates", () => {
      assert.match(
        fixed(
          "missing-zero-grad",
          `${head}
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()  # expect: missing-zero-grad
`,
        ),
        /\n {4}optimizer\.zero_grad\(\)\n {4}loss\.backward\(\)/,
      );
      assert.match(
        fixed(
          "missing-zero-grad",
          `${head}
for i, (x, y) in enumerate(loader):
    (criterion(model(x), y) / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()  # expect: missing-zero-grad
`,
        ),
        /optimizer\.step\(\).*\n {8}optimizer\.zero_grad\(\)\n/,
      );
    });
  });

  describe("zero-grad-each-microbatch", () => {
    it("sees it in a helper, through the model, and parameter by parameter", () => {
      for (const zeroing of ["reset()", "model.zero_grad()", "for p in model.parameters(): p.grad = None"]) {
        const isHelper = zeroing === "reset()";
        checkRule(
          "zero-grad-each-microbatch",
          `${head}
def reset():
    optimizer.zero_grad()${isHelper ? "  # expect: zero-grad-each-microbatch" : ""}
for i, (x, y) in enumerate(loader):
    ${zeroing}${isHelper ? "" : "  # expect: zero-grad-each-microbatch"}
    (criterion(model(x), y) / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
`,
        );
      }
    });

    it("sees a step that slipped out of the loop over batches", () => {
      checkRule(
        "zero-grad-each-microbatch",
        `${head}
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        criterion(model(x), y).backward()
    optimizer.step()
`,
      );
    });

    const quiet: readonly (readonly [string, string])[] = [
      [
        "another optimizer's",
        "    other.zero_grad()\n    (criterion(model(x), y) / k).backward()\n    other.step()\n    if (i + 1) % k == 0:\n        optimizer.step()\n        optimizer.zero_grad()",
      ],
      [
        "a group's beginning",
        "    if i % k == 0:\n        optimizer.zero_grad()\n    (criterion(model(x), y) / k).backward()\n    if (i + 1) % k == 0:\n        optimizer.step()",
      ],
      [
        "gradients collected by hand",
        "    model.zero_grad()\n    criterion(model(x), y).backward()\n    sums.append([p.grad.clone() for p in model.parameters()])\n    if (i + 1) % k == 0:\n        optimizer.step()",
      ],
      [
        "an attack inside a step",
        "    optimizer.zero_grad()\n    for _ in range(5):\n        model.zero_grad()\n        criterion(model(d), y).backward()\n    criterion(model(x), y).backward()\n    optimizer.step()",
      ],
    ];
    for (const [name, body] of quiet) {
      it(`stays quiet: ${name}`, () =>
        void checkRule(
          "zero-grad-each-microbatch",
          `${head}other = torch.optim.Adam(net.parameters())\nfor i, (x, y) in enumerate(loader):\n${body}\n`,
        ));
    }

    it("asks Accelerate how many steps it accumulates", () => {
      const text = (given: string, mark: string): string => `${head}
from accelerate import Accelerator
accelerator = Accelerator(${given})
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    with accelerator.accumulate(model):
        optimizer.zero_grad()${mark}
        accelerator.backward(criterion(model(x), y))
        optimizer.step()
`;
      const mark = "  # expect: zero-grad-each-microbatch";
      checkRule("zero-grad-each-microbatch", text("gradient_accumulation_steps=2", mark));
      checkRule("zero-grad-each-microbatch", text("gradient_accumulation_steps=1", ""));
      checkRule("zero-grad-each-microbatch", text("", ""));
    });

    it("moves the reset with its comment, or drops it where the branch has one", () => {
      const text = (inBranch: string): string =>
        `${head}
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()  # fresh, expect: zero-grad-each-microbatch
    (criterion(model(x), y) / k).backward()
    if (i + 1) % k == 0:
        scaler.step(optimizer)
        scaler.update()
${inBranch}`.replace("# fresh, expect", "# expect");
      const scaler = "scaler = torch.amp.GradScaler()\n";
      assert.match(
        fixed("zero-grad-each-microbatch", scaler + text("").replace("import torch\n", "import torch\n")),
        /scaler\.update\(\)\n {8}optimizer\.zero_grad\(\) {2}# expect/,
      );
      assert.doesNotMatch(
        fixed("zero-grad-each-microbatch", scaler + text("        optimizer.zero_grad()\n")),
        /\n {4}optimizer\.zero_grad/,
      );
    });
  });

  describe("accumulation-loss-not-scaled", () => {
    const loop = (loss: string, mark: string, guard = "(i + 1) % k == 0"): string => `${head}
for i, (x, y) in enumerate(loader):
    ${loss}
    loss.backward()${mark}
    if ${guard}:
        optimizer.step()
        optimizer.zero_grad()
`;
    const mark = "  # expect: accumulation-loss-not-scaled";

    it("is one lower when the criterion is a name", () => {
      const [finding] = checkRule(
        "accumulation-loss-not-scaled",
        `def train(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()${mark}
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
`,
      );
      assert.ok(finding !== undefined);
      assert.equal(finding.level, "warning");
      assert.match(render(finding.message, "en"), /^If `loss` is a mean/);
    });

    it("divides in brackets where needed", () => {
      assert.match(
        fixed("accumulation-loss-not-scaled", loop("loss = criterion(model(x), y)", mark)),
        /\(loss \/ k\)\.backward\(\)/,
      );
      assert.match(
        fixed(
          "accumulation-loss-not-scaled",
          loop("loss = criterion(model(x), y)", mark)
            .replace("loss.backward()", "scaler.scale(loss).backward()")
            .replace("optimizer.step()", "scaler.step(optimizer)")
            .replace("k = 4", "k = 4\nscaler = torch.amp.GradScaler()")
            .replace("(i + 1) % k", "(i + 1) % (a + b)"),
        ),
        /scaler\.scale\(loss \/ \(a \+ b\)\)\.backward\(\)/,
      );
    });

    it("does not take a division of counts or of logged numbers for scaling", () => {
      checkRule(
        "accumulation-loss-not-scaled",
        `steps = math.ceil(len(loader) / k)\n${loop("loss = criterion(model(x), y)", mark)}    print(loss.item() / k)\n`,
      );
    });

    it("stays quiet where something else divides", () => {
      for (const text of [
        loop("loss = criterion(model(x), y) / k", ""),
        loop("loss = F.mse_loss(model(x), y, reduction='sum')", ""),
        loop("loss = imported(model(x), y)", ""),
        loop("loss = criterion(model(x), y)", "", "(i + 1) % 1 == 0"),
        loop("loss = criterion(model(x), y)", "").replace("lr=0.1", "lr=rate / k"),
        loop("loss = criterion(model(x), y)", "").replace(
          "for i,",
          "for p in model.parameters():\n    p.register_hook(f)\nfor i,",
        ),
        loop("loss = criterion(model(x), y)", "").replace(
          "        optimizer.step()",
          "        average_gradients(model)\n        optimizer.step()",
        ),
      ]) {
        checkRule("accumulation-loss-not-scaled", text);
      }
    });
  });

  describe("empty-cache-in-loop", () => {
    const train = (line: string): string => `${head}
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    ${line}
`;
    const mark = "  # expect: empty-cache-in-loop";

    it("sees through conditions that always hold on a GPU", () => {
      checkRule(
        "empty-cache-in-loop",
        train(`if torch.cuda.is_available():\n        torch.cuda.empty_cache()${mark}`),
      );
      checkRule(
        "empty-cache-in-loop",
        train(`if device.type == "cuda":\n        torch.cuda.empty_cache()${mark}`),
      );
      checkRule(
        "empty-cache-in-loop",
        train(`try:\n        torch.cuda.empty_cache()${mark}\n    finally:\n        pass`),
      );
    });

    it("knows other backends and aliases", () => {
      checkRule(
        "empty-cache-in-loop",
        `from torch.mps import empty_cache as clear\n${train(`clear()${mark}`)}`,
      );
      checkRule("empty-cache-in-loop", train(`torch.xpu.empty_cache()${mark}`));
    });

    it("looks into loops without training", () => {
      checkRule(
        "empty-cache-in-loop",
        `${head}\nwith torch.no_grad():\n    for x, y in loader:\n        model(x)\n        torch.cuda.empty_cache()${mark}\n`,
      );
    });

    it("knows hooks that a framework calls once a batch", () => {
      checkRule(
        "empty-cache-in-loop",
        `import torch
import lightning as L
class M(L.LightningModule):
    def training_step(self, batch, i):
        torch.cuda.empty_cache()${mark}
        return self(batch)
    def on_train_epoch_end(self):
        torch.cuda.empty_cache()
`,
      );
    });

    it("points at the call when the helper is of use elsewhere", () => {
      checkRule(
        "empty-cache-in-loop",
        `${head}
def clean():
    torch.cuda.empty_cache()
for epoch in range(3):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        clean()${mark}
    clean()
`,
      );
    });

    const quiet: readonly string[] = [
      "if i % 100 == 0:\n        torch.cuda.empty_cache()",
      "if i % 100:\n        continue\n    torch.cuda.empty_cache()",
      "if free() < limit:\n        torch.cuda.empty_cache()",
      "del model\n    torch.cuda.empty_cache()",
      "model.cpu()\n    torch.cuda.empty_cache()",
      "torch.cuda.reset_peak_memory_stats()\n    torch.cuda.empty_cache()",
      "cache.empty_cache()",
    ];
    for (const line of quiet) {
      it(`stays quiet: ${line.split("\n")[0]}`, () => void checkRule("empty-cache-in-loop", train(line)));
    }

    it("removes the condition that held nothing else, and offers a guard", () => {
      const text = train(`if torch.cuda.is_available():\n        torch.cuda.empty_cache()${mark}`);
      const [finding] = checkRule("empty-cache-in-loop", text);
      const [removal, guard] = finding?.fixes ?? [];
      assert.ok(removal !== undefined && guard !== undefined);
      assert.deepEqual([removal.safety, guard.safety], ["safe", "review"]);
      assert.doesNotMatch(applyEdits(text, removal.edits), /is_available|empty_cache/);
      assert.match(applyEdits(text, guard.edits), /if i % 100 == 0:\n {12}torch\.cuda\.empty_cache\(\)/);
    });
  });
});
