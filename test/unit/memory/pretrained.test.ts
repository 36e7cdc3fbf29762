/** Models of transformers, as an installed package has them: configurations, checkpoints, tied weights, LoRA. */
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

const late = (names: string): string => `from typing import TYPE_CHECKING
if TYPE_CHECKING:
${names.replace(/^/gm, "    ")}
else:
    import sys
    sys.modules[__name__] = _LazyModule(__name__)
`;

/** A package laid out as transformers is: names imported late, models that rest on its own bases. */
const library: Readonly<Record<string, string>> = {
  "transformers-5.24.0.dist-info/METADATA":
    "Name: transformers\nRequires-Dist: torch>=2.4; extra == 'torch'\n",
  "transformers/__init__.py": `__version__ = "5.24.0"\n${late("from .models import *\nfrom .trainer import Trainer as Trainer")}`,
  "transformers/trainer.py": "class Trainer:\n    pass\n",
  "transformers/activations.py": `from collections import OrderedDict
from torch import nn
class Made(OrderedDict):
    def __getitem__(self, key):
        content = super().__getitem__(key)
        cls, kwargs = content if isinstance(content, tuple) else (content, {})
        return cls(**kwargs)
ACT2FN = Made({"gelu": nn.GELU, "relu": (nn.ReLU, {"inplace": True})})
`,
  "transformers/models/__init__.py": late("from .gpt2 import *\nfrom .bert import *"),
  "transformers/models/auto/__init__.py": "",
  "transformers/models/auto/modeling_auto.py": `from collections import OrderedDict
MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES = OrderedDict([("bert", "BertForSequenceClassification")])
`,
  "transformers/models/bert/__init__.py": late(
    "from .configuration_bert import *\nfrom .modeling_bert import *",
  ),
  "transformers/models/bert/configuration_bert.py": `from huggingface_hub.dataclasses import strict
from ...configuration_utils import PreTrainedConfig
from ...utils import auto_docstring
@auto_docstring(checkpoint="some/bert")
@strict
class BertConfig(PreTrainedConfig):
    model_type = "bert"
    vocab_size: int = 100
    hidden_size: int = 16
    num_hidden_layers: int = 2
    hidden_act: str = "gelu"
    classifier_dropout: float | None = None
    def __post_init__(self, **kwargs):
        self.twice = 2 * self.hidden_size
        super().__post_init__(**kwargs)
`,
  "transformers/models/bert/modeling_bert.py": `import torch
from torch import nn
from ...activations import ACT2FN
from ...modeling_outputs import SequenceClassifierOutput
from ...modeling_utils import PreTrainedModel
from ...utils import auto_docstring, logging
from .configuration_bert import BertConfig
logger = logging.get_logger(__name__)
class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.act = ACT2FN[config.hidden_act]
@auto_docstring
class BertPreTrainedModel(PreTrainedModel):
    config: BertConfig
class BertModel(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Buffer(torch.arange(config.twice), persistent=False)
        self.layers = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])
        self.post_init()
class BertForMaskedLM(BertPreTrainedModel):
    _tied_weights_keys = {"decoder.weight": "bert.words.weight"}
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()
@auto_docstring(custom_intro="a head")
class BertForSequenceClassification(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()
    def forward(self, input_ids=None, labels=None):
        return SequenceClassifierOutput(loss=None, logits=self.classifier(self.bert.words(input_ids).mean(1)))
`,
  "transformers/models/gpt2/__init__.py": late(
    "from .configuration_gpt2 import *\nfrom .modeling_gpt2 import *",
  ),
  "transformers/models/gpt2/configuration_gpt2.py": `from ...configuration_utils import PreTrainedConfig
class GPT2Config(PreTrainedConfig):
    model_type = "gpt2"
    attribute_map = {"hidden_size": "n_embd", "num_hidden_layers": "n_layer"}
    vocab_size: int = 50
    n_embd: int = 8
    n_layer: int = 1
    n_head: int = 1
`,
  "transformers/models/gpt2/modeling_gpt2.py": `from torch import nn
from ...modeling_utils import PreTrainedModel
class GPT2Model(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.h = nn.ModuleList([nn.Linear(config.n_embd, config.n_embd) for _ in range(config.num_hidden_layers)])
`,
};

/** Of the small BERT above, at a vocabulary and a width. */
function bertCount(vocabulary: number, width: number, layers: number): number {
  return vocabulary * width + layers * 2 * (width * width + width);
}

describe("models of transformers", () => {
  let folder = "";
  before(loadParser);
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "vramlint-pretrained-"));
    for (const [name, text] of Object.entries(library)) {
      const file = path.join(folder, "site-packages", name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  function estimate(text: string, header = ""): ModelEstimate {
    const imports = followImports(path.join(folder, "train.py"), {
      root: folder,
      packages: [path.join(folder, "site-packages")],
    });
    const script = `${header}import torch\n${text}\noptimizer = torch.optim.AdamW(model.parameters())\n`;
    const [first] = analyze(parseModule(script), { resolveImport: imports.resolve }).estimates.all();
    assert.ok(first);
    return first;
  }
  const reasons = ({ unknown }: ModelEstimate): string[] => unknown.map(({ reason }) => render(reason, "en"));
  const open = "activations: input unknown";

  it("are made from a configuration and its defaults", () => {
    const made = estimate(
      "from transformers import BertConfig, BertModel\nmodel = BertModel(BertConfig(hidden_size=32))",
    );
    assert.equal(made.parameters.count, bertCount(100, 32, 2));
    assert.equal(made.buffers.bytes, 64 * 8);
    assert.deepEqual(reasons(made), [open]);
  });

  it("have second names for what their configurations keep", () => {
    const made = estimate(
      "from transformers import GPT2Config, GPT2Model\nmodel = GPT2Model(GPT2Config(hidden_size=4, n_layer=3))",
    );
    assert.equal(made.parameters.count, 50 * 4 + 3 * (4 * 4 + 4));
  });

  it("tie the weights that they name, unless the configuration says not to", () => {
    const text = (more: string): string =>
      `from transformers import BertConfig, BertForMaskedLM\nmodel = BertForMaskedLM(BertConfig(${more}))`;
    assert.equal(estimate(text("")).parameters.count, bertCount(100, 16, 2) + 100);
    assert.equal(
      estimate(text("tie_word_embeddings=False")).parameters.count,
      bertCount(100, 16, 2) + 100 + 100 * 16,
    );
  });

  const loaded =
    'from transformers import AutoModelForSequenceClassification\nmodel = AutoModelForSequenceClassification.from_pretrained("bert-large-cased", num_labels=3)';
  const large = bertCount(28996, 1024, 24) + 3 * 1024 + 3;

  it("have the sizes of a published checkpoint, with what the call changes", () => {
    const made = estimate(loaded);
    assert.deepEqual([made.parameters.count, made.parameters.bytes], [large, 4 * large]);
    assert.equal(estimate(loaded.replace("=3)", "=3, dtype=torch.bfloat16)")).parameters.bytes, 2 * large);
  });

  it("are not known for a checkpoint that is not in the list", () => {
    const made = estimate(loaded.replace("bert-large-cased", "somebody/bert"));
    assert.ok(made.notBuilt);
    assert.match(reasons(made)[0] ?? "", /configuration of the checkpoint `somebody\/bert` is not known/);
  });

  it("is a lower bound where a file of the library is missing", () => {
    const made = estimate(
      "from transformers import BertConfig, BertForSequenceClassification\nmodel = BertForSequenceClassification(BertConfig())",
      "# vram: input=input_ids=int64[B,8]<100, loss=model, batch=2\n",
    );
    assert.equal(made.complete, false);
    assert.ok(made.peak !== null && made.peak.bytes > made.parameters.bytes);
  });

  it("get LoRA's layers beside frozen ones, and heads that are trained whole", () => {
    const made = estimate(
      `${loaded}\nfrom peft import LoraConfig, TaskType, get_peft_model\nmodel = get_peft_model(model, LoraConfig(r=4, task_type=TaskType.SEQ_CLS, target_modules=["query"]))`,
    );
    const head = 3 * 1024 + 3;
    assert.equal(made.parameters.trainable, 24 * 2 * 4 * 1024 + head);
    assert.equal(made.parameters.count, large + 24 * 2 * 4 * 1024 + head);
    assert.equal(reasons(made).length, 1);
  });

  it("say which header gives their input", () => {
    assert.match(
      reasons(estimate(loaded))[0] ?? "",
      /`# vram: input=input_ids=int64\[B,128\]<28996, input=attention_mask=int64\[B,128\]<2, input=labels=int64\[B\]<3, loss=model`/,
    );
  });

  it("are a lower bound with an adapter of another kind", () => {
    const made = estimate(
      `${loaded}\nfrom peft import LoraConfig, get_peft_model\nmodel = get_peft_model(model, LoraConfig(use_dora=True))`,
    );
    assert.equal(made.complete, false);
  });

  it("hold packed bytes where their weights are quantised, and say what is not counted", () => {
    const made = estimate(
      `from transformers import BitsAndBytesConfig\n${loaded.replace("=3)", "=3, quantization_config=BitsAndBytesConfig(load_in_4bit=True))")}`,
    );
    assert.equal(made.parameters.trainable, 0);
    assert.ok(made.parameters.bytes < 2.5 * large && made.parameters.bytes > 0.5 * large);
    assert.ok(reasons(made).includes("scales of quantised weights are not counted"));
  });
});
