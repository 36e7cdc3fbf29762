/**
 * Training texts that a tokenizer of transformers pads to one length, however short the texts of a batch are
 * (transformers/tokenization_utils_base.py, `PaddingStrategy.MAX_LENGTH`; `pad_to_max_length=True` is its older name):
 * https://huggingface.co/docs/transformers/pad_truncation
 */
import { foldInteger } from "../../python/constant";
import { keyword } from "../../python/keyword";
import { lastName } from "../../python/last-name";
import type {
  Attribute,
  Call,
  Expression,
  FunctionDefinition,
  Import,
  ImportFrom,
  Lambda,
  Name,
  Node,
} from "../../python/tree";
import { enclosingFunction, enclosingLoop, isWithin, someNode } from "../../python/walk";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";

type MessageId = "padded" | "named" | "longest";

export const rule = defineRule<MessageId>({
  name: "pad-to-max-length",
  group: "data",
  level: "information",
  summary: {
    en: "Training texts are padded to one maximal length instead of the longest of their batch.",
    "zh-cn": "训练文本被填充到固定的最大长度，而不是所在批次中最长文本的长度。",
  },
  messages: {
    padded: {
      en: "Every text is padded to {length, select, unknown {the maximal length} other {{length} tokens}}, however short the texts of its batch are. The model computes and keeps activations for the padding as for tokens; attention that is written out takes the square of the length. Pad to the longest text of each batch: `padding=True` where the batch is made, or `DataCollatorWithPadding`.",
      "zh-cn":
        "每个文本都被填充到{length, select, unknown {最大长度} other { {length} 个 token}}，无论所在批次的文本有多短。模型会像对待 token 一样为填充部分计算并保留激活；未融合的注意力所占显存与长度的平方成正比。请填充到每个批次中最长的文本：在组成批次的地方使用 `padding=True`，或使用 `DataCollatorWithPadding`。",
    },
    named: {
      en: "If `{tokenizer}` is a tokenizer of transformers: every text is padded to {length, select, unknown {the maximal length} other {{length} tokens}}, however short the texts of its batch are. The model computes and keeps activations for the padding as for tokens; attention that is written out takes the square of the length. Pad to the longest text of each batch: `padding=True` where the batch is made, or `DataCollatorWithPadding`.",
      "zh-cn":
        "如果 `{tokenizer}` 是 transformers 的分词器：每个文本都被填充到{length, select, unknown {最大长度} other { {length} 个 token}}，无论所在批次的文本有多短。模型会像对待 token 一样为填充部分计算并保留激活；未融合的注意力所占显存与长度的平方成正比。请填充到每个批次中最长的文本：在组成批次的地方使用 `padding=True`，或使用 `DataCollatorWithPadding`。",
    },
    longest: { en: "Pad to the longest text: `padding=True`", "zh-cn": "填充到最长的文本：`padding=True`" },
  },
  calls: ["tokenizer", "tok", "encode_plus", "batch_encode_plus", "encode"],
  create: (context) => {
    let looksAtLengths: boolean | undefined;
    return {
      Call(call) {
        const padding = paddingToMaximum(call);
        if (padding === undefined) return;
        looksAtLengths ??= !trains(context) || needsOneLength(context) || cutsPadding(context);
        if (!looksAtLengths) check(context, call, padding);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, call: Call, padding: Expression): void {
  const tokenizer = tokenizerOf(context, call);
  if (tokenizer === undefined || !preparesTraining(context, call)) return;
  const asked = keyword(call, "max_length");
  const length = asked === undefined ? undefined : foldInteger(asked, context.scopes);
  if (length !== undefined && length < fewTokens) return;
  if (asked !== undefined && isSizeOfMore(context, call, asked)) return;
  const isNamed = tokenizer.certainty === "name";
  context.report({
    at: padding,
    message: isNamed ? "named" : "padded",
    values: { tokenizer: context.source.slice(tokenizer.name), length: length ?? "unknown" },
    ...(isNamed ? { level: oneLower("information") } : {}),
    fixes: fixesFor(call, padding),
  });
}

/** Shorter texts than this take little, padded or not. */
const fewTokens = 128;

/** `np.zeros((self.max_length, self.max_length))` in the same function: labels and masks are as long as the texts. */
function isSizeOfMore({ torch: { resolve } }: RuleContext, call: Call, length: Expression): boolean {
  const key = resolve.keyOf(length);
  const around = enclosingFunction(call);
  if (key === undefined || around === undefined) return false;
  return ["zeros", "ones", "full", "empty"].some((name) =>
    resolve.index.callsByName
      .get(name)
      ?.some(
        (made) =>
          isWithin(made, around) && someNode(made, (node) => isVariable(node) && resolve.keyOf(node) === key),
      ),
  );
}

function isVariable(node: Node): node is Name | Attribute {
  return node.kind === "Name" || node.kind === "Attribute";
}

/** `padding="max_length"`, `pad_to_max_length=True`. */
function paddingToMaximum(call: Call): Expression | undefined {
  const padding = keyword(call, "padding");
  if (padding?.kind === "String" && padding.value === "max_length") return padding;
  const older = keyword(call, "pad_to_max_length");
  return older?.kind === "Boolean" && older.value ? older : undefined;
}

interface Tokenizer {
  readonly name: Expression;
  readonly certainty: "resolved" | "name";
}

/** What is called, or whose method is: made by `….from_pretrained` of a tokenizer's class, or called a tokenizer. */
function tokenizerOf({ torch: { resolve } }: RuleContext, { callee }: Call): Tokenizer | undefined {
  const isMethod = callee.kind === "Attribute" && /^(batch_)?encode(_plus)?$/.test(callee.attribute.id);
  const name = isMethod ? callee.object : callee;
  const made = resolve
    .valuesGiven(name)
    .map((value) => (value.kind === "Call" ? resolve.qualifiedName(value.callee) : undefined));
  if (made.length > 0 && made.every((one) => one !== undefined && isTokenizerMade(one)))
    return { name, certainty: "resolved" };
  if (made.some((one) => one !== undefined)) return undefined;
  return /tokeni[sz]er$/i.test(lastName(name) ?? "") ? { name, certainty: "name" } : undefined;
}

/** Those of CLIP cut texts at 77 tokens and are asked for all of them by diffusion models. */
function isTokenizerMade(qualifiedName: string): boolean {
  return /^transformers\.(.*\.)?(?!CLIP)\w*Tokenizer(Fast)?\.from_pretrained$/.test(qualifiedName);
}

/** A loop with steps, or a Trainer. */
function trains({ torch }: RuleContext): boolean {
  return (
    torch.trainingLoops.loops.some(({ steps }) => steps.length > 0) ||
    torch.frameworks.made.some(({ framework: { name } }) => name === "hf-trainer" || name === "lightning")
  );
}

const compilers = ["trace", "export", "compile", "make_graphed_callables", "CUDAGraph"];
const staticLengths =
  /^(torch_xla|jax|flax|tensorflow|diffusers|onnx|onnxruntime|optimum|torch_neuronx)(\.|$)/;
const staticSettings = ["torch_compile", "tpu_num_cores", "pad_to_multiple_of"];

/** What is compiled, captured, exported or run on a TPU has one length for a reason. */
function needsOneLength({ torch: { resolve } }: RuleContext): boolean {
  const { index } = resolve;
  if (index.imports.some((statement) => modulesOf(statement).some((name) => staticLengths.test(name))))
    return true;
  if (index.calls.some((call) => staticSettings.some((name) => keyword(call, name) !== undefined)))
    return true;
  return compilers.some((name) =>
    index.callsByName
      .get(name)
      ?.some(({ callee }) => (resolve.qualifiedName(callee) ?? "torch.").startsWith("torch.")),
  );
}

function modulesOf(statement: Import | ImportFrom): readonly string[] {
  return statement.kind === "ImportFrom" ? [statement.module] : statement.names.map(({ name }) => name);
}

/** `batch[key][:, :longest]`: the padding is cut off again, batch by batch. */
function cutsPadding({ module }: RuleContext): boolean {
  return someNode(
    module,
    (node) =>
      node.kind === "Subscript" &&
      node.index.kind === "Tuple" &&
      node.index.elements.some(
        (one) =>
          one.kind === "Slice" && one.upper !== undefined && /^(Name|Attribute|Call)$/.test(one.upper.kind),
      ),
  );
}

const preparation =
  /(^|_)(tokeni[sz]e|encode|preprocess|process|prepare|data|dataset|features?|transform|collate(_fn)?)(_|$)/i;
const otherUse =
  /(^|_)(pred|predict|prediction|infer|inference|generate|test|eval|evaluate|validate|export|onnx|convert|demo|sample|search|query)(_|$)/i;

/** What makes samples or batches for training: a dataset, what `map` or a loader is given, a step, a function called after it. */
function preparesTraining(context: RuleContext, call: Call): boolean {
  const { trainingLoops, provenance } = context.torch;
  if (trainingLoops.loops.some(({ loop }) => provenance.reach.runsIn(loop, call))) return true;
  const around = enclosingFunction(call);
  if (around === undefined) return enclosingLoop(call) !== undefined || call.parent?.kind === "Comprehension";
  if (around.kind === "Lambda") return isGivenToMap(around);
  const { id } = around.name;
  if (otherUse.test(id)) return false;
  return id === "__getitem__" || id === "__iter__" || preparation.test(id);
}

/** `dataset.map(lambda samples: tokenizer(…))`. */
function isGivenToMap({ parent }: Lambda): boolean {
  return (
    parent?.kind === "Call" && parent.callee.kind === "Attribute" && parent.callee.attribute.id === "map"
  );
}

/** Where the call makes a batch, its longest text is the one that counts. */
function fixesFor(call: Call, padding: Expression): NonNullable<Report<MessageId>["fixes"]> {
  const [texts] = call.positional;
  const isOneText = texts?.kind === "Subscript" || texts?.kind === "String";
  if (padding.kind !== "String" || isOneText || !makesBatch(enclosingFunction(call))) return [];
  const edits = [{ start: padding.start, end: padding.end, text: "True" }];
  return [{ title: "longest", safety: "review", edits }];
}

function makesBatch(around: FunctionDefinition | Lambda | undefined): boolean {
  return around?.kind === "FunctionDefinition" && /collat/i.test(around.name.id);
}
