import assert from "node:assert/strict";
import { readHeader } from "../../../server/src/directives/header";
import { estimateModule, type Estimates, type ModelEstimate } from "../../../server/src/memory/estimate";
import type { Setting, TrainingSetup } from "../../../server/src/memory/setup";
import { formatBytes } from "../../../server/src/memory/units";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Call, Node } from "../../../server/src/python/tree";
import { modelText } from "../../support/goldens";
import { loadParser } from "../../support/parser";

function header<Value>(value: Value): Setting<Value> {
  return { value, from: "header" };
}

/** Estimates of a text, its own header over `setup`. */
function estimatesOf(text: string, setup: TrainingSetup = {}): Estimates {
  const parsed = parseModule(text);
  return estimateModule(parsed.module, buildScopes(parsed.module), { ...setup, ...readHeader(parsed).setup });
}

function firstOf(text: string, setup: TrainingSetup = {}): ModelEstimate {
  const [first] = estimatesOf(text, setup).all();
  assert.ok(first, "no estimate");
  return first;
}

function reasons(estimate: ModelEstimate): string[] {
  return estimate.unknown.map(({ reason }) => render(reason, "en"));
}

const imports = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";

/** A class whose constructor and forward have these lines. */
function net(init: readonly string[], forward: readonly string[] = ["return x"], name = "Net"): string {
  const lines = (body: readonly string[]): string => body.map((line) => `        ${line}\n`).join("");
  return (
    `class ${name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n${lines(init)}` +
    `    def forward(self, x):\n${lines(forward)}`
  );
}

describe("estimates", () => {
  before(loadParser);

  describe("worked figures", () => {
    it("an optimizer of one part has that part's state, backward the gradients of all", () => {
      const text = imports + net(["self.body = nn.Linear(10, 10)", "self.head = nn.Linear(10, 2)"]);
      const optimizer = { name: "sgd", options: { momentum: 0.9 }, parts: ["head"] };
      const estimate = firstOf(text, { optimizer: header(optimizer) });
      assert.equal(estimate.gradients.bytes, 4 * (110 + 22));
      assert.equal(estimate.optimizer?.bytes, 4 * 22);
    });

    it("20,000,000 fp32 parameters with Adam", () => {
      const text = imports + net(["self.weight = nn.Parameter(torch.empty(20_000_000))"]);
      const estimate = firstOf(text, { optimizer: header({ name: "adam", options: {} }) });
      assert.equal(estimate.parameters.count, 20_000_000);
      assert.equal(estimate.parameters.bytes, 80_000_000);
      assert.equal(estimate.gradients.bytes, 80_000_000);
      assert.equal(estimate.optimizer?.name, "Adam");
      assert.equal(estimate.optimizer.bytes, 160_000_000);
      const sum = estimate.parameters.bytes + estimate.gradients.bytes + estimate.optimizer.bytes;
      assert.equal(sum, 320_000_000);
      assert.equal((sum / 2 ** 20).toFixed(1), "305.2");
      assert.match(formatBytes(sum), /^305\.2 MiB$/);
    });

    it("1.5 billion parameters in fp16 mixed precision with fp32 master weights and Adam", () => {
      const text = imports + net(["self.weight = nn.Parameter(torch.empty(1_500_000_000))"]);
      const estimate = firstOf(text, {
        precision: header("amp-fp16"),
        optimizer: header({ name: "torch.optim.Adam", options: {} }),
      });
      const sum = estimate.parameters.bytes + estimate.gradients.bytes + (estimate.optimizer?.bytes ?? 0);
      assert.equal(sum, 16 * 1_500_000_000);
      assert.equal((sum / 2 ** 30).toFixed(2), "22.35");
    });
  });

  describe("which model", () => {
    const two =
      imports +
      net(["self.a = nn.Linear(2, 3)"], ["return self.a(x)"], "A") +
      net(["self.b = nn.Linear(5, 7)"], ["return self.b(x)"], "B");

    it("the header's expression first", () => {
      const estimate = firstOf(`# vram: model=A()\n${two}`);
      assert.equal(estimate.name, "A");
      assert.equal(estimate.parameters.count, 9);
      assert.equal(estimate.assumptions.find(({ key }) => key === "model")?.from, "header");
    });

    it("else the one the script instantiates, with the values it has there", () => {
      const text =
        imports +
        "import argparse\n" +
        "class Wide(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.fc = nn.Linear(width, 10)\n" +
        net(["self.b = nn.Linear(5, 7)"], ["return self.b(x)"], "Last") +
        "def main(args=None):\n" +
        "    parser = argparse.ArgumentParser()\n" +
        "    parser.add_argument('--width', type=int, default=32)\n" +
        "    args = parser.parse_args()\n" +
        "    model = Wide(args.width).cuda()\n" +
        "    for x in []:\n        model(x).sum().backward()\n" +
        "if __name__ == '__main__':\n    main()\n";
      const estimate = firstOf(text);
      assert.equal(estimate.name, "Wide");
      assert.equal(estimate.parameters.count, 330);
      assert.ok(estimate.complete);
      assert.equal(text.slice(estimate.span.start, estimate.span.end), "Wide(args.width)");
    });

    it("else the last class, and says so", () => {
      const estimates = estimatesOf(two).all();
      assert.deepEqual(
        estimates.map(({ name }) => name),
        ["B", "A"],
      );
      assert.equal(estimates[0]?.assumptions.find(({ key }) => key === "model")?.from, "default");
    });

    it("a construction that the script's facts found, inside a function", () => {
      const text =
        imports +
        "class N(nn.Module):\n    def __init__(self, w):\n        super().__init__()\n        self.f = nn.Linear(w, w)\ndef run():\n    w = 4 * 2\n    m = N(w)\n    m2 = N(3)\n";
      const { module } = parseModule(text);
      const calls: Call[] = [];
      const walk = (node: Node): void => {
        if (node.kind === "Assign" && node.value.kind === "Call") calls.push(node.value);
        if (node.kind === "FunctionDefinition") node.body.forEach(walk);
      };
      module.body.forEach(walk);
      const [expression] = calls;
      assert.ok(expression);
      const model = { value: { text: "N(w)", expression }, from: "script", span: expression } as const;
      const [first] = estimateModule(module, buildScopes(module), { model }).all();
      assert.equal(first?.parameters.count, 72);
    });

    it("as it is when its optimizer is made", () => {
      const text =
        imports +
        net(["self.body = nn.Linear(4, 4)", "self.head = nn.Linear(4, 10)"]) +
        "if __name__ == '__main__':\n" +
        "    model = nn.parallel.DistributedDataParallel(Net().cuda())\n" +
        "    model.module.head = nn.Linear(4, 3)\n" +
        "    for p in model.module.body.parameters():\n        p.requires_grad = False\n" +
        "    optimizer = torch.optim.Adam(model.parameters())\n" +
        "    model.module.head = None\n";
      const estimate = firstOf(text);
      assert.equal(estimate.name, "Net");
      assert.equal(estimate.parameters.count, 20 + 15);
      assert.equal(estimate.parameters.trainable, 15);
      assert.ok(estimate.complete);
    });

    it("and says so when something unknown is done to it on the way", () => {
      const text =
        "from peft import get_peft_model\n" +
        imports +
        net(["self.body = nn.Linear(4, 4)"]) +
        "model = Net()\nmodel = get_peft_model(model)\noptimizer = torch.optim.Adam(model.parameters())\n";
      const estimate = firstOf(text);
      assert.equal(estimate.parameters.count, 20);
      assert.ok(!estimate.complete);
      assert.match(reasons(estimate).join(), /get_peft_model/);
    });

    it("classes that need arguments are not estimated, and the argument is named", () => {
      const text = `${imports}class N(nn.Module):\n    def __init__(self, w):\n        super().__init__()\n        self.f = nn.Linear(w, w)\n`;
      const estimates = estimatesOf(text);
      const [only] = estimates.all();
      assert.ok(only?.notBuilt);
      assert.ok(!only.complete);
      assert.deepEqual(reasons(only), ["`N` cannot be built: argument `w` has no default"]);
      assert.equal(text.slice(only.unknown[0]?.span?.start, only.unknown[0]?.span?.end), "N");
      assert.equal(estimates.ofClass("N"), only);
      assert.equal(estimates.ofClass("Nobody"), undefined);
    });
  });

  describe("limits", () => {
    const endless = "while True:\n            self.x = nn.Linear(1, 1)";

    it("an endless constructor is not estimated, and says so", () => {
      const estimates = estimatesOf(`${imports}${net([endless])}model = Net()\n`);
      assert.deepEqual(
        estimates.all().map(({ name, notBuilt }) => [name, notBuilt]),
        [["Net", true]],
      );
      assert.match(reasons(estimates.ofClass("Net") ?? firstOf("")).join(), /stopped after \d+ steps/);
    });

    it("the limit holds for all classes of a file together", () => {
      const many = Array.from({ length: 40 }, (_, i) => net([endless], ["return x"], `N${i}`)).join("");
      const steps = estimatesOf(imports + many)
        .all()
        .flatMap((estimate) => reasons(estimate));
      assert.equal(steps.length, 40);
      for (const text of steps) assert.match(text, /stopped after/);
    });

    it("work on long values counts", () => {
      const text = `${imports}${net(["x = 'a' * 1000000", "while True:\n            y = x.replace('a', 'b')"])}`;
      assert.match(reasons(firstOf(text)).join(), /stopped after/);
    });

    it("no optimizer is a reason", () => {
      const input = "# vram: batch=2, input=float32[B,4]\n";
      const estimate = firstOf(
        input + imports + net(["self.fc = nn.Linear(4, 4)"], ["return self.fc(x)"]) + "model = Net()\n",
      );
      assert.ok(!estimate.complete);
      assert.deepEqual(reasons(estimate), ["optimizer state: optimizer unknown"]);
    });
  });

  describe("several devices", () => {
    const text = imports + net(["self.weight = nn.Parameter(torch.empty(1_000_000))"]) + "model = Net()\n";

    it("figures are one device's, offloaded states the host's", () => {
      const estimate = firstOf(`# vram: optimizer=adam, shard=zero2, devices=4, offload=optimizer\n${text}`);
      assert.equal(estimate.parameters.bytes, 4_000_000);
      assert.equal(estimate.optimizer?.bytes, 0);
      assert.equal(estimate.host, 1_000_000 + 2_000_000);
      assert.equal(estimate.assumptions.find(({ key }) => key === "shard")?.value, "zero2");
      assert.equal(estimate.assumptions.find(({ key }) => key === "devices")?.value, "4");
    });

    it("one device has no host figure", () => {
      assert.equal(firstOf(`# vram: optimizer=adam\n${text}`).host, undefined);
    });
  });

  describe("states without an input", () => {
    it("are exact, and the activations are said to be unknown", () => {
      const estimate = firstOf(
        imports + net(["self.conv = nn.Conv2d(3, 8, 3)", "self.bn = nn.BatchNorm2d(8)"]),
        {
          optimizer: header({ name: "sgd", options: { momentum: 0.9 } }),
        },
      );
      assert.equal(estimate.parameters.count, 224 + 16);
      assert.equal(estimate.buffers.bytes, 8 * 4 * 2 + 8);
      assert.equal(estimate.optimizer?.bytes, 4 * 240);
      assert.equal(estimate.saved, null);
      assert.equal(estimate.peak, null);
      assert.ok(estimate.complete);
      assert.deepEqual(reasons(estimate), [
        "activations: input unknown. The header can say it, with the sizes of your data: `# vram: input=float32[B,3,224,224]`",
      ]);
    });

    it("tied and shared parameters count once, unused ones count, frozen ones have no gradient", () => {
      const estimate = firstOf(
        imports +
          net([
            "self.emb = nn.Embedding(10, 4)",
            "self.out = nn.Linear(4, 10, bias=False)",
            "self.out.weight = self.emb.weight",
            "shared = nn.Linear(4, 4)",
            "self.a = shared",
            "self.b = shared",
            "self.unused = nn.Linear(2, 2)",
            "self.frozen = nn.Linear(3, 3).requires_grad_(False)",
          ]),
      );
      assert.equal(estimate.parameters.count, 40 + 20 + 6 + 12);
      assert.equal(estimate.parameters.trainable, 66);
      assert.equal(estimate.gradients.bytes, 4 * 66);
    });

    it("reparametrized weights count as what is in their place", () => {
      const norm = "from torch.nn.utils import weight_norm, spectral_norm\n";
      const estimate = firstOf(
        imports +
          norm +
          net(["self.a = weight_norm(nn.Conv1d(3, 8, 5))", "self.b = spectral_norm(nn.Linear(6, 4))"]),
      );
      assert.equal(estimate.parameters.count, 8 + 120 + 8 + (24 + 4));
      assert.equal(estimate.buffers.bytes, 4 * (4 + 6));
      assert.ok(estimate.complete);
    });

    it("an unknown optimizer is not counted as nothing", () => {
      const estimate = firstOf(imports + net(["self.a = nn.Linear(2, 2)"]), {
        optimizer: header({ name: "my_optimizer", options: {} }),
      });
      assert.equal(estimate.optimizer, null);
      assert.ok(!estimate.complete);
      assert.ok(reasons(estimate).includes("optimizer `my_optimizer` is not known"));
    });
  });

  describe("what is not understood", () => {
    it("an unknown learning rate hurts nothing", () => {
      const text = `from .config import LR, NAME\n${imports}${net(["self.lr = LR", "self.name = NAME", "self.a = nn.Linear(2, 2)"])}`;
      const estimate = firstOf(text);
      assert.ok(estimate.complete);
      assert.equal(estimate.parameters.count, 6);
    });

    it("an unknown width makes that layer unknown and the sum a lower bound", () => {
      const text = `from .config import WIDTH\n${imports}${net(["self.a = nn.Linear(2, 2)", "self.b = nn.Linear(WIDTH, 2)"])}`;
      const estimate = firstOf(text);
      assert.ok(!estimate.complete);
      assert.equal(estimate.parameters.count, 6);
      assert.match(reasons(estimate)[0] ?? "", /`nn\.Linear` is not known: `WIDTH` comes from another file/);
      const [part] = estimate.unknown;
      assert.equal(part?.span && text.slice(part.span.start, part.span.end), "nn.Linear(WIDTH, 2)");
    });

    it("a buffer or parameter that nobody knows is called one", () => {
      const made = ["self.register_buffer('mean', load('a'))", "self.register_parameter('scale', load('b'))"];
      const text = `from elsewhere import load\n${imports}${net([...made, "self.head = nn.Linear(2, 2)"], ["return self.head(x)"])}`;
      const found = reasons(firstOf(text));
      assert.match(found[0] ?? "", /^how large the buffer `mean` is is not known: .*load/);
      assert.match(found[1] ?? "", /^how large the parameter `scale` is is not known: .*load/);
    });

    it("a module of a library that is not known is named", () => {
      const text = `import timm\n${imports}${net(["self.body = timm.create_model('resnet50')", "self.head = nn.Linear(2, 2)"], ["return self.head(self.body(x))"])}`;
      const estimate = firstOf(text);
      assert.ok(!estimate.complete);
      assert.match(reasons(estimate).join(), /`body` may be a module.*timm\.create_model/);
    });

    it("an operator that is not known makes the step a lower bound", () => {
      const text = `# vram: input=float32[B,4], batch=2, optimizer=sgd\n${imports}${net(["self.a = nn.Linear(4, 4)"], ["x = self.a(x)", "x = torch.some_new_operator(x)", "return self.a(x)"])}`;
      const estimate = firstOf(text);
      assert.ok(!estimate.complete);
      assert.match(reasons(estimate).join(), /torch\.some_new_operator/);
      const states = estimate.parameters.bytes + estimate.gradients.bytes;
      assert.ok((estimate.peak?.bytes ?? 0) >= states);
    });

    it("a branch on the value of a tensor is said", () => {
      const text = `# vram: input=float32[B,4]\n${imports}${net(["self.a = nn.Linear(4, 4)"], ["if x.mean() > 0:", "    x = self.a(x)", "return self.a(x)"])}`;
      assert.match(
        reasons(firstOf(text)).join(),
        /which branch runs is not known: this depends on the value of a tensor/,
      );
    });

    it("shapes that do not fit are said with both shapes", () => {
      const text = `# vram: input=float32[B,5], batch=3\n${imports}${net(["self.a = nn.Linear(4, 4)"], ["return self.a(x)"])}`;
      const estimate = firstOf(text);
      assert.ok(!estimate.complete);
      assert.match(reasons(estimate).join(), /3, 5/);
    });

    it("an exception of the code is a reason with its line", () => {
      const text = `# vram: input=float32[B,5]\n${imports}${net(["self.a = nn.Linear(4, 4)"], ["raise RuntimeError('not now')"])}`;
      const estimate = firstOf(text);
      const [part] = estimate.unknown;
      assert.match(reasons(estimate)[0] ?? "", /RuntimeError: not now/);
      assert.equal(part?.span && text.slice(part.span.start, part.span.end), "raise RuntimeError('not now')");
    });

    it("a recursive module and a 10,000-layer stack end", () => {
      const recursive = firstOf(
        `${imports}class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(2, 2)\n        self.b = self\n    def forward(self, x): return x\n`,
      );
      assert.equal(recursive.parameters.count, 6);
      const endless = estimatesOf(
        `${imports}class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(2, 2)\n        self.b = N()\n`,
      ).all();
      assert.ok(endless.every((estimate) => !estimate.complete));
      const long = firstOf(
        `${imports}${net(["self.stack = nn.Sequential(*[nn.Linear(2, 2) for _ in range(10_000)])"], ["return self.stack(x)"])}`,
      );
      assert.equal(long.parameters.count, 60_000);
    });
  });

  describe("a step", () => {
    it("of a measured model has the measured bytes", () => {
      const estimate = firstOf(modelText("lenet5.py"));
      assert.equal(estimate.saved?.bytes, 4_144_132);
      assert.equal(estimate.saved.perSample, 32_376);
      assert.equal(estimate.peak?.bytes, 8_248_808);
      assert.equal(estimate.peak.phase, "backward");
      const { span } = estimate.peak;
      assert.equal(span && modelText("lenet5.py").slice(span.start, span.end), "self.act(self.c1(x))");
      assert.ok(estimate.complete);
      assert.deepEqual(estimate.unknown, []);
    });

    it("takes the target's shape from the output when nobody says it", () => {
      const estimate = firstOf(
        `# vram: input=float32[B,4], batch=8, loss=cross_entropy, optimizer=sgd\n${imports}${net(["self.a = nn.Linear(4, 3)"], ["return self.a(x)"])}`,
      );
      assert.ok(estimate.complete);
      assert.ok(estimate.assumptions.some(({ key }) => key === "target"));
    });

    it("in inference keeps nothing for backward", () => {
      const estimate = firstOf(
        `# vram: input=float32[B,4], batch=8, mode=infer\n${imports}${net(["self.a = nn.Linear(4, 3)"], ["return self.a(x)"])}`,
      );
      assert.equal(estimate.saved?.bytes, 0);
      assert.equal(estimate.gradients.bytes, 0);
      assert.equal(estimate.optimizer, null);
      assert.equal(estimate.peak?.bytes, 4 * (15 + 8 * 4 + 8 * 3));
    });

    it("of one of several devices holds its part of the states", () => {
      const text = modelText("gpt.py");
      const parsed = parseModule(text);
      const { setup } = readHeader(parsed);
      const whole = firstOf(text);
      const [shared] = estimateModule(parsed.module, buildScopes(parsed.module), {
        ...setup,
        shard: header("fsdp"),
        devices: header(4),
      }).all();
      assert.ok(shared);
      assert.equal(shared.parameters.bytes, Math.ceil(whole.parameters.bytes / 4));
      assert.equal(shared.optimizer?.bytes, Math.ceil((whole.optimizer?.bytes ?? 0) / 4));
      assert.ok((shared.peak?.bytes ?? 0) < (whole.peak?.bytes ?? 0));
      assert.ok((shared.peak?.bytes ?? 0) > (whole.peak?.bytes ?? 0) / 4);
    });

    it("gives a timeline of live bytes whose highest point is the peak", () => {
      const estimates = estimatesOf(modelText("lenet5.py"));
      const points = estimates.timeline?.() ?? [];
      const highest = Math.max(
        ...points.map(
          (point) =>
            point.parameters + point.buffers + point.inputs + point.gradients + point.saved + point.temporary,
        ),
      );
      assert.equal(highest, estimates.all()[0]?.peak?.bytes);
    });
  });

  describe("survives", () => {
    /** A small generator of numbers below `n`, the same in every run. */
    function numbers(seed: number): (n: number) => number {
      let state = seed;
      return (n) => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return Math.floor((state / 2_147_483_648) * n);
      };
    }

    it("mutations of real models", () => {
      const below = numbers(20);
      const files = ["lenet5.py", "idioms.py", "gpt.py", "swin.py", "pointnet.py", "lora.py"];
      const strange = [
        "0",
        "-1",
        "None",
        "'x'",
        "1e9",
        "x",
        "self",
        "[]",
        "10**9",
        "(",
        ")",
        ":",
        "=",
        "lambda",
        "*",
      ];
      for (let round = 0; round < 60; round++) {
        const text = modelText(files[round % files.length] ?? "lenet5.py").replace(/batch=\d+/, "batch=2");
        const start = text.lastIndexOf("# vram");
        const words = [...text.slice(start).matchAll(/\w+|[^\s\w]/g)].slice(40);
        const [word, other] = [words[below(words.length)], words[below(words.length)]];
        assert.ok(word && other);
        const at = start + word.index;
        const replacement = [strange[below(strange.length)] ?? "", other[0], ""][below(3)] ?? "";
        const mutant = text.slice(0, at) + replacement + text.slice(at + word[0].length);
        for (const estimate of estimatesOf(mutant).all()) {
          assert.ok(Number.isFinite(estimate.parameters.bytes), mutant);
          assert.ok(estimate.peak === null || Number.isFinite(estimate.peak.bytes), mutant);
          assert.doesNotMatch(reasons(estimate).join(), /could not follow/, mutant);
        }
      }
    }).timeout(300_000);
  });

  describe("layers", () => {
    it("stand where the file makes them", () => {
      const text = `${imports}${net(["self.a = nn.Linear(2, 3)", "self.b = nn.Sequential(", "    nn.Linear(3, 4),", "    nn.ReLU(),", ")"])}`;
      const layers = (firstOf(text).layers ?? []).map(({ span, modulePath, className, parameters }) => ({
        code: text.slice(span.start, span.end).replace(/\s+/g, " "),
        modulePath,
        className,
        parameters,
      }));
      assert.deepEqual(layers, [
        { code: "self.a = nn.Linear(2, 3)", modulePath: "a", className: "Linear", parameters: 9 },
        {
          code: "self.b = nn.Sequential( nn.Linear(3, 4), nn.ReLU(), )",
          modulePath: "b",
          className: "Sequential",
          parameters: 16,
        },
        { code: "nn.Linear(3, 4)", modulePath: "b.0", className: "Linear", parameters: 16 },
        { code: "nn.ReLU()", modulePath: "b.1", className: "ReLU", parameters: 0 },
      ]);
    });
  });
});
