import assert from "node:assert/strict";
import { canonicalName } from "../../../server/src/torch/api";
import { isKnownExport } from "../../../server/src/torch/api-exports";
import { keepsGraph, severingFunctions, severingMethods } from "../../../server/src/torch/api-graph";
import {
  isLoader,
  isModuleBase,
  isOptimizer,
  isScaler,
  isScheduler,
  makesModel,
} from "../../../server/src/torch/api-kinds";

describe("names of PyTorch", () => {
  it("folds re-exports into the documented name", () => {
    const cases: [string, string][] = [
      ["torch.nn.modules.loss.CrossEntropyLoss", "torch.nn.CrossEntropyLoss"],
      ["torch.nn.modules.flatten.Flatten", "torch.nn.Flatten"],
      ["torch.optim.adam.Adam", "torch.optim.Adam"],
      ["torch.optim.lr_scheduler.StepLR", "torch.optim.lr_scheduler.StepLR"],
      ["torch.autograd.no_grad", "torch.no_grad"],
      ["torch.autograd.grad_mode.no_grad", "torch.no_grad"],
      ["torch.autocast", "torch.amp.autocast"],
      ["torch.cuda.amp.grad_scaler.GradScaler", "torch.cuda.amp.GradScaler"],
      ["torch.functional.einsum", "torch.einsum"],
      ["pytorch_lightning.LightningModule", "lightning.pytorch.LightningModule"],
      ["lightning.LightningModule", "lightning.pytorch.LightningModule"],
      ["torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"],
      ["numpy.zeros", "numpy.zeros"],
    ];
    for (const [name, expected] of cases) assert.equal(canonicalName(name), expected);
  });

  it("tells optimizers from schedulers and their base class", () => {
    assert.ok(isOptimizer("torch.optim.AdamW"));
    assert.ok(isOptimizer("bitsandbytes.optim.AdamW8bit"));
    assert.ok(!isOptimizer("torch.optim.Optimizer"));
    assert.ok(!isOptimizer("torch.optim.lr_scheduler.StepLR"));
    assert.ok(isScheduler("torch.optim.lr_scheduler.OneCycleLR"));
    assert.ok(isScheduler("transformers.get_linear_schedule_with_warmup"));
  });

  it("knows factories of trainable models and leaves tokenizers, weights and TensorFlow out", () => {
    assert.ok(makesModel("torchvision.models.resnet50"));
    assert.ok(makesModel("timm.create_model"));
    assert.ok(makesModel("transformers.AutoModelForCausalLM.from_pretrained"));
    assert.ok(makesModel("transformers.BertForSequenceClassification"));
    assert.ok(!makesModel("transformers.AutoTokenizer.from_pretrained"));
    assert.ok(!makesModel("transformers.TFBertModel.from_pretrained"));
    assert.ok(!makesModel("torchvision.models.ResNet50_Weights"));
    assert.ok(!makesModel("torchvision.transforms.ToTensor"));
  });

  it("knows loaders, scalers and bases of modules", () => {
    assert.ok(isLoader("torch.utils.data.DataLoader"));
    assert.ok(isScaler("torch.amp.GradScaler"));
    assert.ok(!isScaler("sklearn.preprocessing.StandardScaler"));
    assert.ok(isModuleBase("torch.nn.Module"));
    assert.ok(isModuleBase("transformers.PreTrainedModel"));
    assert.ok(!isModuleBase("torch.utils.data.Dataset"));
  });

  it("says what keeps a graph and what severs it", () => {
    for (const name of [
      "torch.stack",
      "torch.nn.functional.cross_entropy",
      "builtins.sum",
      "torch.as_tensor",
    ]) {
      assert.ok(keepsGraph(name), name);
    }
    for (const name of [
      "torch.argmax",
      "torch.zeros_like",
      "builtins.float",
      "torch.eq",
      "numpy.mean",
      "torch.tensor",
    ]) {
      assert.ok(!keepsGraph(name), name);
    }
    assert.ok(severingFunctions.has("torch.argmax"));
    for (const method of ["item", "detach", "tolist", "argmax", "eq", "long", "size"])
      assert.ok(severingMethods.has(method));
    for (const method of ["clone", "to", "cpu", "sign", "mean"])
      assert.ok(!severingMethods.has(method), method);
  });

  it("knows what star imports bring", () => {
    assert.ok(isKnownExport("torch.nn", "Linear"));
    assert.ok(isKnownExport("torch", "no_grad"));
    assert.ok(!isKnownExport("torch.nn", "cross_entropy"));
    assert.ok(!isKnownExport("mylib", "Linear"));
  });
});
