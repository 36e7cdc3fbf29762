import assert from "node:assert/strict";
import { headerExamples, headerKeys } from "../../../server/src/directives/keys";
import { optimizerNames } from "../../../server/src/directives/optimizers";
import { hasHeader, readHeader } from "../../../server/src/directives/header";
import { parseModule } from "../../../server/src/python/parse";
import { headerOf, reportedIn, script, startParser } from "./helpers";

const GiB = 1024 ** 3;

describe("the budget header", () => {
  before(startParser);

  it("reads the example of the documentation", () => {
    const { setup, diagnostics } = headerOf(
      [
        "# vram: device=8GiB, budget=6.5GiB, batch=32, input=float32[B,3,32,32], target=int64[B]<10",
        "# vram: optimizer=adam, precision=fp32, model=ResNet(depth=18)",
      ].join("\n"),
    );
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(setup.device?.value, { bytes: 8 * GiB, card: undefined });
    assert.equal(setup.budget?.value, 6.5 * GiB);
    assert.equal(setup.batch?.value, 32);
    assert.deepEqual(setup.inputs?.value, [
      {
        name: undefined,
        dtype: "float32",
        dimensions: [
          { factor: 1, perSample: true },
          { factor: 3, perSample: false },
          { factor: 32, perSample: false },
          { factor: 32, perSample: false },
        ],
        bound: undefined,
      },
    ]);
    assert.deepEqual(setup.targets?.value, [
      { name: undefined, dtype: "int64", dimensions: [{ factor: 1, perSample: true }], bound: 10 },
    ]);
    assert.deepEqual(setup.optimizer?.value, { name: "adam", options: {} });
    assert.equal(setup.precision?.value, "fp32");
    assert.equal(setup.model?.value.text, "ResNet(depth=18)");
    assert.equal(setup.model.value.expression.kind, "Call");
  });

  it("gives every setting the span of its value and says where it comes from", () => {
    const text = `# vram: batch = 32 ,  budget = 6 GiB\n${script}`;
    const { setup } = readHeader(parseModule(text));
    assert.equal(setup.batch?.from, "header");
    assert.equal(text.slice(setup.batch.span?.start, setup.batch.span?.end), "32");
    assert.equal(text.slice(setup.budget?.span?.start, setup.budget?.span?.end), "6 GiB");
  });

  it("gives the spans of keys and values for hover and completion", () => {
    const text = `# vram: batch = 32, T=128, nonsense=1, loss\n${script}`;
    const { entries } = readHeader(parseModule(text));
    const slice = (span: { start: number; end: number } | undefined) =>
      span && text.slice(span.start, span.end);
    assert.deepEqual(
      entries.map(({ key, keySpan, valueSpan, start, end }) => [
        key,
        slice(keySpan),
        slice(valueSpan),
        slice({ start, end }),
      ]),
      [
        ["batch", "batch", "32", "batch = 32"],
        [undefined, "T", "128", "T=128"],
        [undefined, "nonsense", "1", "nonsense=1"],
        ["loss", "loss", undefined, "loss"],
      ],
    );
  });

  it("accepts the example of every key", () => {
    for (const key of headerKeys) {
      const { setup, diagnostics } = headerOf(`# vram: ${headerExamples[key]}`, `${script}class Net: pass\n`);
      assert.deepEqual(diagnostics, [], key);
      assert.equal(Object.keys(setup).length, 1, key);
    }
  });

  it("takes keys in any case, spaces anywhere, several lines and a trailing comma", () => {
    const { setup, diagnostics } = headerOf("#VRAM: Batch=8,\n#  vram :  BUDGET = 2 GiB ,  Loss = SUM,");
    assert.deepEqual(diagnostics, []);
    assert.equal(setup.batch?.value, 8);
    assert.equal(setup.budget?.value, 2 * GiB);
    assert.equal(setup.loss?.value, "sum");
  });

  it("reads entries that only a space separates, and asks for the comma", () => {
    const header = "# vram: device=8GiB  budget = 6 GiB batch=4, model=Net(batch=2) input=float32[B, 3]";
    const { setup, diagnostics } = headerOf(header, `${script}class Net: pass\n`);
    assert.equal(setup.device?.value.bytes, 8 * GiB);
    assert.equal(setup.budget?.value, 6 * GiB);
    assert.equal(setup.batch?.value, 4);
    assert.equal(setup.model?.value.text, "Net(batch=2)");
    assert.equal(setup.inputs?.value.length, 1);
    assert.deepEqual(
      diagnostics.map(({ span }) => header.slice(span.start, span.end)),
      ["budget", "batch", "input"],
    );
    const reported = reportedIn("# vram: device=8GiB  batch=4")[0];
    assert.equal(reported?.fixed, "# vram: device=8GiB, batch=4");
  });

  it("leaves values with spaces and equals signs whole", () => {
    for (const entry of [
      "measured=16:1.8GiB 32:3.0GiB",
      "input=mask=bool[B,16]",
      "budget = 6 GiB",
      "model=Net(1, batch = 2)",
    ]) {
      assert.deepEqual(headerOf(`# vram: ${entry}`, `${script}class Net: pass\n`).diagnostics, [], entry);
    }
  });

  it("takes the punctuation of Chinese input methods", () => {
    const { setup, diagnostics } = headerOf("# vram：batch＝8，input=float32［B，3］；int64【B】＜10");
    assert.deepEqual(diagnostics, []);
    assert.equal(setup.batch?.value, 8);
    assert.equal(setup.inputs?.value.length, 2);
    assert.equal(setup.inputs.value[1]?.bound, 10);
  });

  it("stands behind shebang, encoding, docstring and other comments", () => {
    const text =
      '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"""Doc."""\n# Other.\n\n# vram: batch=4\nimport torch\n';
    const parsed = parseModule(text);
    assert.equal(readHeader(parsed).setup.batch?.value, 4);
    assert.ok(hasHeader(parsed.module));
  });

  it("counts in a file of comments only", () => {
    assert.equal(headerOf("# vram: batch=4", "").setup.batch?.value, 4);
  });

  it("counts for nothing behind the first statement, and says so", () => {
    const parsed = parseModule("import torch\n# vram: batch=4, budget=1GiB\n");
    const { setup, diagnostics } = readHeader(parsed);
    assert.deepEqual(setup, {});
    assert.equal(diagnostics.length, 1);
    assert.ok(!hasHeader(parsed.module));
  });

  it("leaves prose, other tools' comments and mentions alone", () => {
    const { diagnostics, comments } = headerOf(
      "# noqa\n# type: ignore\n# vramlint is a tool\n# Write `# vram: batch=2` to say so.",
      "import torch\nx = 1  # vram: about 3 GB here\n",
    );
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(comments, []);
  });

  it("ends before another tool's part of the comment", () => {
    const { setup, diagnostics } = headerOf("# vram: batch=4  # noqa: E501");
    assert.deepEqual(diagnostics, []);
    assert.equal(setup.batch?.value, 4);
  });

  it("reads a file without header, without text, with syntax errors", () => {
    assert.deepEqual(headerOf("", "").setup, {});
    assert.equal(headerOf("# vram: batch=4", "def (:\n  ][\n").setup.batch?.value, 4);
    assert.deepEqual(headerOf("# vram:").diagnostics, []);
  });

  describe("sizes and devices", () => {
    it("knows cards by name", () => {
      const { setup, diagnostics } = headerOf("# vram: device=rtx-4090");
      assert.deepEqual(diagnostics, []);
      assert.equal(setup.device?.value.card, "rtx-4090");
      const bytes = setup.device.value.bytes;
      assert.ok(bytes > 20 * GiB && bytes <= 24 * GiB, String(bytes));
    });

    it("reads decimal GB", () => {
      assert.equal(headerOf("# vram: budget=8GB").setup.budget?.value, 8e9);
    });

    it("names the nearest card", () => {
      const [reported] = reportedIn("# vram: device=rtx-4091");
      assert.equal(reported?.at, "rtx-4091");
      assert.match(reported.message, /`rtx-40\d0` is probably meant/);
    });

    it("asks for a unit", () => {
      assert.deepEqual(reportedIn("# vram: budget=8, batch=2"), [
        {
          at: "8",
          message: "`8` has no unit: GiB, MiB or (decimal) GB, MB.",
          fixed: "# vram: budget=8GiB, batch=2",
        },
      ]);
    });

    for (const bad of ["lots", "-8GiB", "0GiB", "8XB!", "1e400GiB", "NaNGiB"]) {
      it(`refuses budget=${bad}`, () => {
        const { setup, diagnostics } = headerOf(`# vram: budget=${bad}, batch=2`);
        assert.equal(setup.budget, undefined);
        assert.equal(diagnostics.length, 1);
        assert.equal(setup.batch?.value, 2);
      });
    }
  });

  describe("counts", () => {
    for (const key of ["batch", "accumulate", "devices"] as const) {
      for (const bad of ["0", "-1", "1.5", "many", "1048577", "99999999999999999999"]) {
        it(`refuses ${key}=${bad}`, () => {
          const [reported, second] = reportedIn(`# vram: ${key}=${bad}, mode=infer`);
          assert.equal(reported?.at, bad);
          assert.equal(second, undefined);
          assert.equal(headerOf(`# vram: ${key}=${bad}, mode=infer`).setup[key], undefined);
        });
      }
    }

    it("reads underscores as Python does", () => {
      assert.equal(headerOf("# vram: batch=1_024").setup.batch?.value, 1024);
    });
  });

  describe("tensors", () => {
    it("repeats and joins, with names", () => {
      const { setup, diagnostics } = headerOf(
        "# vram: input=int64[B,16]<50304; mask = bool[B,16], input = lengths=int64[B]\n# vram: target=float32[]",
      );
      assert.deepEqual(diagnostics, []);
      assert.deepEqual(
        setup.inputs?.value.map(({ name, dtype, bound }) => [name, dtype, bound]),
        [
          [undefined, "int64", 50304],
          ["mask", "bool", undefined],
          ["lengths", "int64", undefined],
        ],
      );
      assert.deepEqual(setup.targets?.value[0]?.dimensions, []);
    });

    it("multiplies, and takes capital letters given anywhere in the header", () => {
      const { setup, diagnostics } = headerOf(
        "# vram: input=int64[35*B, T*2*B, T, B,]<V, T=128\n# vram: V = 1000",
      );
      assert.deepEqual(diagnostics, []);
      assert.deepEqual(setup.inputs?.value[0], {
        name: undefined,
        dtype: "int64",
        dimensions: [
          { factor: 35, perSample: true },
          { factor: 256, perSample: true },
          { factor: 128, perSample: false },
          { factor: 1, perSample: true },
        ],
        bound: 1000,
      });
    });

    it("knows PyTorch's second names", () => {
      const { setup, diagnostics } = headerOf("# vram: input=torch.long[B]; half[B]; float[B]; double[B]");
      assert.deepEqual(diagnostics, []);
      assert.deepEqual(
        setup.inputs?.value.map(({ dtype }) => dtype),
        ["int64", "float16", "float32", "float64"],
      );
    });

    const mistakes: readonly [string, string, RegExp][] = [
      ["input=float23[B,3]", "float23", /`float32` is probably meant/],
      ["input=fp16[B,3]", "fp16", /`float16` is probably meant/],
      ["input=quaternion[B]", "quaternion", /is no dtype\. Dtypes: float64/],
      ["input=float32", "float32", /shape is missing/],
      ["input=[B,3]", "[B,3]", /tensor looks like/],
      ["input=float32[B,S]", "S", /`S` has no value/],
      ["input=float32[B,0]", "0", /is no dimension/],
      ["input=float32[B,T+1]", "T+1", /is no dimension/],
      ["input=float32[B,,3]", "B,,3", /is no dimension/],
      ["input=float32[B*]", "B*", /is no dimension/],
      ["input=float32[B*B]", "B*B", /twice/],
      ["input=float32[B,9007199254740991*9]", "9007199254740991*9", /too large/],
      ["input=float32[B]<10", "<10", /integer inputs/],
      ["input=int64[B]<ten", "<ten", /is no bound/],
      ["input=int64[B]<0", "<0", /is no bound/],
      ["input=int64[B] 10", "10", /tensor looks like/],
      ["target=int64[B", "[", /no partner/],
    ];
    for (const [entry, at, message] of mistakes) {
      it(`reports ${entry} at ${at}`, () => {
        const header = `# vram: ${entry}, batch=2`;
        const [reported] = reportedIn(header);
        assert.equal(reported?.at, at);
        assert.match(reported.message, message);
        assert.equal(headerOf(header).setup.batch?.value, 2, "the rest counts");
        // A bound that cannot be read leaves a tensor whose values are not known.
        assert.equal(headerOf(header).setup.inputs === undefined, !/^(?:<|10$)/.test(at));
      });
    }

    it("keeps the tensors that can be read", () => {
      assert.equal(headerOf("# vram: input=float32[B]; float23[B]; bool[B]").setup.inputs?.value.length, 2);
    });
  });

  describe("words", () => {
    const mistakes: readonly [string, string, string | undefined][] = [
      ["precision=fp23", "fp23", "precision=fp32"],
      ["precision=bfloat16", "bfloat16", "precision=bf16"],
      ["attention=flsh", "flsh", "attention=flash"],
      ["shard=zero-2", "zero-2", "shard=zero2"],
      ["offload=cpu", "cpu", "offload=optimizer"],
      ["mode=eval", "eval", "mode=infer"],
      ["mode=quantum", "quantum", undefined],
      ["optimizer=adamww", "adamww", "optimizer=adamw"],
      ["optimizer=adamw(!)", "!", undefined],
      ["optimizer=adam w", "adam w", undefined],
      ["loss=crossentropy", "crossentropy", "loss=cross_entropy"],
      ["loss=my_los", "my_los", "loss=my_loss"],
      ["loss=nn.CrossEntropyLoss()", "nn.CrossEntropyLoss()", "loss=cross_entropy"],
      ["loss=F.mse_loss", "F.mse_loss", "loss=mse"],
      ["optimizer=torch.optim.AdamWw", "torch.optim.AdamWw", "optimizer=adamw"],
      ["checkpoint=Blok", "Blok", "checkpoint=Block"],
      ["checkpoint=1Block", "1Block", undefined],
      ["checkpoint=all; Block", "all", undefined],
      ["model=ResNett(18)", "ResNett", "model=ResNet(18)"],
      ["model=ResNet(", "(", undefined],
      ["model=3 + 4", "3 + 4", undefined],
      ["measured=16:1.8GiB sixteen:2GiB", "sixteen:2GiB", undefined],
      ["measured=16:fast", "fast", undefined],
    ];
    for (const [entry, at, fixed] of mistakes) {
      it(`reports ${entry} at ${at}`, () => {
        const [reported] = reportedIn(`# vram: devices=2, ${entry}`);
        assert.equal(reported?.at, at);
        assert.equal(reported.fixed, fixed === undefined ? undefined : `# vram: devices=2, ${fixed}`);
        assert.equal(headerOf(`# vram: devices=2, ${entry}`).setup.devices?.value, 2);
      });
    }

    it("reads options of optimizers", () => {
      assert.deepEqual(
        headerOf("# vram: optimizer=SGD(momentum=0.9, nesterov=True, mode=x)").setup.optimizer?.value,
        {
          name: "sgd",
          options: { momentum: 0.9, nesterov: true, mode: "x" },
        },
      );
      assert.deepEqual(headerOf("# vram: optimizer=adamw(fused)").setup.optimizer?.value, {
        name: "adamw",
        options: { fused: true },
      });
    });

    it("knows the needs of every optimizer that it offers, and PyTorch's own names", () => {
      for (const name of [...optimizerNames, "torch.optim.AdamW", "adamw-fused"]) {
        assert.deepEqual(headerOf(`# vram: optimizer=${name}`).diagnostics, [], name);
      }
    });

    it("is not confused by names that objects are born with", () => {
      const { setup } = headerOf("# vram: optimizer=adamw(__proto__=1, constructor)");
      assert.deepEqual(Object.keys(setup.optimizer?.value.options ?? {}).sort(), [
        "__proto__",
        "constructor",
      ]);
      assert.equal(headerOf("# vram: constructor=1").diagnostics.length, 1);
      assert.equal(headerOf("# vram: precision=toString").diagnostics.length, 1);
      assert.equal(headerOf("# vram: input=constructor[B]").diagnostics.length, 1);
    });

    it("takes a loss of the file, and names that an import may bring", () => {
      assert.equal(headerOf("# vram: loss=my_loss").setup.loss?.value, "my_loss");
      const open = headerOf("# vram: loss=other, model=Other(2), checkpoint=Thing", "from models import *\n");
      assert.deepEqual(open.diagnostics, []);
      assert.equal(open.setup.model?.value.text, "Other(2)");
    });

    it("takes every name of what cannot be read for one that it may define, and no others", () => {
      const typed = "import torch\nclass Net(nn.Mod";
      assert.deepEqual(headerOf("# vram: model=Net(2)", typed).diagnostics, []);
      assert.equal(headerOf("# vram: model=Net(2)", "import torch\nfrom t").diagnostics.length, 1);
      assert.deepEqual(headerOf("# vram: model=Net(2)", "from models import * as\n").diagnostics, []);
    });

    it("finds names bound in blocks", () => {
      const rest = "try:\n    from a import Net\nexcept ImportError:\n    Net = None\n";
      assert.deepEqual(headerOf("# vram: model=Net", rest).diagnostics, []);
    });

    it("keeps commas of brackets and strings together in a model's expression", () => {
      const { setup, diagnostics } = headerOf(`# vram: model=ResNet("a, b", [1, 2], {"c": (3, 4)}), batch=2`);
      assert.deepEqual(diagnostics, []);
      assert.equal(setup.model?.value.text, `ResNet("a, b", [1, 2], {"c": (3, 4)})`);
      assert.equal(setup.batch?.value, 2);
    });

    it("reads checkpointed blocks", () => {
      const fromLibrary = headerOf("# vram: checkpoint=TransformerEncoderLayer");
      assert.deepEqual(fromLibrary.diagnostics, []);
      assert.deepEqual(fromLibrary.setup.checkpoint?.value, ["TransformerEncoderLayer"]);
      for (const written of ["ALL", "all;", "[all]"])
        assert.equal(headerOf(`# vram: checkpoint=${written}`).setup.checkpoint?.value, "all");
      assert.deepEqual(headerOf("# vram: checkpoint=[Block, ResNet]").setup.checkpoint?.value, [
        "Block",
        "ResNet",
      ]);
      assert.deepEqual(headerOf("# vram: checkpoint=Block; ResNet").setup.checkpoint?.value, [
        "Block",
        "ResNet",
      ]);
    });
  });

  it("reads measured points", () => {
    const { setup, diagnostics } = headerOf("# vram: measured=16:1.8GiB 32: 3.0 GiB  64:5.4GiB");
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(
      setup.measured?.value.map(({ batch, bytes }) => [batch, (bytes / GiB).toFixed(1)]),
      [
        [16, "1.8"],
        [32, "3.0"],
        [64, "5.4"],
      ],
    );
  });

  it("joins measured points that commas separate", () => {
    const [reported] = reportedIn("# vram: measured=16:1.8GiB, 32:3.0GiB");
    assert.equal(reported?.at, "32:3.0GiB");
    assert.equal(reported.fixed, "# vram: measured=16:1.8GiB 32:3.0GiB");
  });

  describe("keys", () => {
    const mistakes: readonly [string, string, string | undefined][] = [
      ["btach=3", "btach", "batch=3"],
      ["batch_size=3", "batch_size", "batch=3"],
      ["gradient_accumulation_steps=3", "gradient_accumulation_steps", "accumulate=3"],
      ["B=3", "B", "batch=3"],
      ["wibble=3", "wibble", undefined],
      ["=3", "=3", undefined],
      ["batch", "batch", undefined],
      ["batch=", "batch=", undefined],
      ["batch: 3", "batch: 3", "batch=3"],
      ["batch 3", "batch 3", "batch=3"],
      ["needs a lot", "needs a lot", undefined],
      ["T=many", "many", undefined],
      ["budget=1GiB)", ")", undefined],
    ];
    for (const [entry, at, fixed] of mistakes) {
      it(`reports ${entry} at ${at}`, () => {
        const [reported] = reportedIn(`# vram: devices=2, ${entry}, mode=infer`);
        assert.equal(reported?.at, at);
        assert.equal(
          reported.fixed,
          fixed === undefined ? undefined : `# vram: devices=2, ${fixed}, mode=infer`,
        );
        const { setup } = headerOf(`# vram: devices=2, ${entry}, mode=infer`);
        assert.equal(setup.devices?.value, 2);
        assert.equal(setup.mode?.value, "infer");
      });
    }

    it("reports one given twice; the first counts", () => {
      const header = "# vram: batch=2, mode=infer\n# vram: BATCH=4, devices=2";
      assert.equal(headerOf(header).setup.batch?.value, 2);
      const [reported] = reportedIn(header);
      assert.equal(reported?.at, "BATCH=4");
      assert.equal(reported.fixed, "# vram: batch=2, mode=infer\n# vram: devices=2");
    });

    it("takes the line away with an only repeated entry", () => {
      const [reported] = reportedIn("# vram: batch=2\n# vram: batch=4");
      assert.equal(reported?.fixed, "# vram: batch=2\nimport torch");
    });
  });

  it("survives brackets, quotes and long lines of any kind", () => {
    const hostile = [
      "(".repeat(20_000),
      "'".repeat(999),
      `model=${"[".repeat(9_999)}`,
      "=,".repeat(9_999),
      "\u0000=\u202e",
    ];
    for (const line of hostile) {
      const { setup } = headerOf(`# vram: batch=2, ${line}`);
      assert.equal(setup.batch?.value, 2);
    }
  });
});
