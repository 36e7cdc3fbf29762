/** The forward of a model of transformers: as the same model without the library, in every kind of step. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { analyze } from "../../../server/src/analysis";
import type { ModelEstimate } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { followImports } from "../../../server/src/workspace/imports";
import { loadParser } from "../../support/parser";
import { transformersLibrary, writtenOut } from "../../support/transformers-library";

const padded = "input=input_ids=int64[B,8]<100, input=attention_mask=int64[B,8]<2, input=labels=int64[B]<2";
const whole = "input=input_ids=int64[B,8]<100, input=labels=int64[B]<2";

describe("the forward of transformers' models", () => {
  let folder = "";
  before(loadParser);
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "vramlint-pretrained-forward-"));
    for (const [name, text] of Object.entries(transformersLibrary)) {
      const file = path.join(folder, "site-packages", name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  function estimate(text: string, input: string, precision = "fp32"): ModelEstimate {
    const imports = followImports(path.join(folder, "train.py"), {
      root: folder,
      packages: [path.join(folder, "site-packages")],
    });
    const header = `# vram: ${input}, loss=model, batch=4, precision=${precision}`;
    const script = `${header}\n${text}\noptimizer = torch.optim.AdamW(model.parameters())\n`;
    const [first] = analyze(parseModule(script), { resolveImport: imports.resolve }).estimates.all();
    assert.ok(first);
    return first;
  }

  const library = (given = "", after = ""): string =>
    `import torch\nfrom transformers import TinyConfig, TinyForSequenceClassification\nmodel = TinyForSequenceClassification(TinyConfig(${given}))\n${after}`;
  const plain = (kind: string): string => `${writtenOut.replace('"KIND"', `"${kind}"`)}\nmodel = Model()`;
  const reasons = ({ unknown }: ModelEstimate): string[] => unknown.map(({ reason }) => render(reason, "en"));

  function assertSame(found: ModelEstimate, expected: ModelEstimate): void {
    assert.deepEqual(reasons(found), []);
    assert.ok(found.complete && expected.complete);
    assert.equal(found.parameters.count, expected.parameters.count);
    assert.equal(found.saved?.bytes, expected.saved?.bytes);
    assert.equal(found.peak?.bytes, expected.peak?.bytes);
  }

  it("attends by sdpa, with a mask where tokens are padding", () => {
    assertSame(estimate(library(), whole), estimate(plain("sdpa"), whole));
    assertSame(estimate(library(), padded), estimate(plain("sdpa"), padded));
  });

  it("says that a mask whose values are not known is taken to have padding", () => {
    const found = estimate(library(), padded);
    assert.deepEqual(
      found.assumptions.filter(({ key }) => key === "attention_mask").map(({ value }) => value),
      ["padded"],
    );
    assert.ok(!estimate(library(), whole).assumptions.some(({ key }) => key === "attention_mask"));
  });

  it("attends by the model's own function where the configuration says eager", () => {
    const found = estimate(library('attn_implementation="eager"'), padded);
    assertSame(found, estimate(plain("eager"), padded));
  });

  it("keeps copies of keys and values in a cache where the configuration says so", () => {
    const found = estimate(library("is_decoder=True"), whole);
    assertSame(found, estimate(plain("cached"), whole));
    assertSame(estimate(library("is_decoder=True, use_cache=False"), whole), estimate(plain("sdpa"), whole));
  });

  it("runs layers again in backward after gradient_checkpointing_enable()", () => {
    const found = estimate(library("is_decoder=True", "model.gradient_checkpointing_enable()"), whole);
    assertSame(found, estimate(plain("checkpointed"), whole));
  });

  it("is the same under autocast", () => {
    assertSame(estimate(library(), padded, "amp-bf16"), estimate(plain("sdpa"), padded, "amp-bf16"));
  });

  it("is a lower bound with attention that is not followed, and names it", () => {
    const found = estimate(library('attn_implementation="flash_attention_2"'), padded);
    assert.equal(found.complete, false);
    assert.match(reasons(found).join("\n"), /attention function `flash_attention_2` is not followed/);
  });

  it("is a lower bound where all hidden states are asked for", () => {
    const found = estimate(library("output_hidden_states=True"), whole);
    assert.equal(found.complete, false);
    assert.match(reasons(found).join("\n"), /output_hidden_states/);
  });

  const lora = "r=4, lora_dropout=0.1, target_modules=['qkv'], modules_to_save=['classifier']";

  it("goes through LoRA's layers beside frozen ones", () => {
    const added = `from peft import LoraConfig, get_peft_model\nmodel = get_peft_model(model, LoraConfig(${lora}))`;
    assertSame(estimate(library("", added), padded), estimate(plain("lora"), padded));
  });

  it("is what a Trainer makes of it: adapters, checkpointed layers, no cache", () => {
    const trainer = (given: string, more = ""): string =>
      `from transformers import Trainer, TrainingArguments\nfrom peft import LoraConfig\nargs = TrainingArguments("out"${given})\ntrainer = Trainer(model, args, train_dataset=data${more})`;
    const train = (text: string, precision = "fp32"): ModelEstimate =>
      estimate(`${library("is_decoder=True", text)}\ntrainer.train()`, whole, precision);
    // nothing is left of the output, and under autocast it is copied in single precision
    for (const precision of ["fp32", "amp-bf16"])
      assertSame(train(trainer(""), precision), estimate(plain("trained"), whole, precision));
    assertSame(
      train(trainer(", gradient_checkpointing=True")),
      estimate(plain("trained checkpointed"), whole),
    );
    assertSame(
      train(trainer("", `, peft_config=LoraConfig(${lora})`)),
      estimate(plain("trained lora"), whole),
    );
  });

  it("gives a tuple where return_dict is off", () => {
    const found = estimate(library("return_dict=False"), whole);
    assertSame(found, estimate(plain("sdpa"), whole));
  });
});
