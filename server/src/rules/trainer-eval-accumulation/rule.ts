/**
 * A Trainer that computes metrics of a language model's logits: its evaluation joins the logits of all batches on the device and
 * moves them to host memory at the end, unless `eval_accumulation_steps` says to do so earlier (transformers/trainer.py,
 * `evaluation_loop`; transformers/trainer_pt_utils.py, `EvalLoopContainer`).
 */
import { keyword } from "../../python/keyword";
import type { Call, Expression } from "../../python/tree";
import { appendArgument } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = "kept" | "settings" | "model" | "accumulate";

export const rule = defineRule<MessageId>({
  name: "trainer-eval-accumulation",
  group: "frameworks",
  level: "warning",
  summary: {
    en: "A Trainer collects the logits of a whole evaluation set on the GPU for `compute_metrics`.",
    "zh-cn": "Trainer 为 `compute_metrics` 把整个评估集的 logits 都堆积在 GPU 上。",
  },
  messages: {
    kept: {
      en: "For `compute_metrics` the evaluation keeps the logits of all samples, a number for each word of the vocabulary and each token, and joins them on the GPU until the last batch is done. Give `preprocess_logits_for_metrics` to keep only what the metrics need (such as the argmax), or move them to host memory every few batches: `{argument}`.",
      "zh-cn":
        "为了 `compute_metrics`，评估会保留所有样本的 logits（每个 token 对词表中的每个词各有一个数），并在 GPU 上不断拼接，直到最后一个批次结束。请用 `preprocess_logits_for_metrics` 只保留指标需要的内容（例如 argmax），或每隔几个批次把它们移到主机内存：`{argument}`。",
    },
    settings: { en: "These settings do not move them earlier.", "zh-cn": "这些设置不会提前移走它们。" },
    model: { en: "A model that gives logits over a vocabulary.", "zh-cn": "这个模型给出词表上的 logits。" },
    accumulate: {
      en: "Move them to host memory every 8 batches: `{argument}`",
      "zh-cn": "每 8 个批次把它们移到主机内存：`{argument}`",
    },
  },
  calls: ["Trainer", "Seq2SeqTrainer", "SFTTrainer"],
  create: (context) => ({
    Call(call) {
      check(context, call);
    },
  }),
});

const trainers = /^transformers\.(trainer\.|trainer_seq2seq\.)?(Seq2Seq)?Trainer$/;
/** Fine-tunes language models and nothing else. */
const languageTrainers = /^trl\.(.*\.)?SFTTrainer$/;
const settingsClasses = /^(transformers|trl)\.(.*\.)?(Seq2SeqTrainingArguments|TrainingArguments|SFTConfig)$/;
/** Models whose logits are as wide as a vocabulary. */
const languageModels =
  /^transformers\.(.*\.)?\w*(ForCausalLM|ForMaskedLM|ForSeq2SeqLM|ForConditionalGeneration|LMHeadModel|WithLMHead)\.from_(pretrained|config)$/;
/** Settings under which the logits are kept nowhere, moved earlier, or not computed. */
const sparing: readonly string[] = [
  "eval_accumulation_steps",
  "batch_eval_metrics",
  "prediction_loss_only",
  "predict_with_generate",
  "use_liger_kernel",
  "use_cpu",
  "no_cuda",
];
const argument = "eval_accumulation_steps=8";

function check(context: RuleContext<MessageId>, call: Call): void {
  const { resolve } = context.torch;
  const name = resolve.qualifiedName(call.callee) ?? "";
  if (!trainers.test(name) && !languageTrainers.test(name)) return;
  if (call.keywordSpreads.length > 0 || keyword(call, "preprocess_logits_for_metrics") !== undefined) return;
  const metrics = keyword(call, "compute_metrics");
  if (metrics === undefined || metrics.kind === "None" || !evaluates(context, call)) return;
  const model = languageModel(context, call);
  if (model === undefined && !languageTrainers.test(name)) return;
  const settings = settingsOf(context, call);
  if (settings === undefined || isSpared(context, settings)) return;
  report(context, metrics, settings, model);
}

function evaluates({ torch: { resolve } }: RuleContext, call: Call): boolean {
  const { callsByName } = resolve.index;
  const data = keyword(call, "eval_dataset");
  return (
    (data !== undefined && data.kind !== "None") || callsByName.has("evaluate") || callsByName.has("predict")
  );
}

/** Where the model is made, when it is a language model. */
function languageModel({ torch: { resolve } }: RuleContext, call: Call): Call | undefined {
  const given = call.positional[0] ?? keyword(call, "model");
  const construction = given && resolve.objectOf(given)?.construction;
  if (construction === undefined) return undefined;
  return languageModels.test(resolve.qualifiedName(construction.callee) ?? "") ? construction : undefined;
}

/** The settings, when they are written in this file and all of them are seen. */
function settingsOf({ torch: { resolve } }: RuleContext, call: Call): Call | undefined {
  const given = call.positional[1] ?? keyword(call, "args");
  const values = given === undefined || given.kind === "Call" ? [given] : resolve.valuesGiven(given);
  const [only, other] = values;
  if (only?.kind !== "Call" || other !== undefined || only.keywordSpreads.length > 0) return undefined;
  if (only.positional.some(({ kind }) => kind === "Starred")) return undefined;
  return settingsClasses.test(resolve.qualifiedName(only.callee) ?? "") ? only : undefined;
}

/** Said where the settings are made, or anywhere later: `args.eval_accumulation_steps = 4`, `args.set_evaluate(…)`. */
function isSpared({ torch: { resolve } }: RuleContext, settings: Call): boolean {
  const { attributesByName } = resolve.index;
  const later = ["set_evaluate", "set_testing", "preprocess_logits_for_metrics", ...sparing];
  if (later.some((name) => attributesByName.has(name)) || resolve.index.callsByName.has("setattr"))
    return true;
  return sparing.some((name) => {
    const value = keyword(settings, name);
    return value !== undefined && value.kind !== "None" && !(value.kind === "Boolean" && !value.value);
  });
}

function report(
  context: RuleContext<MessageId>,
  metrics: Expression,
  settings: Call,
  model: Call | undefined,
): void {
  const edit = keyword(settings, "eval_accumulation_steps")
    ? undefined
    : appendArgument(context.source, settings, argument);
  const fix: NonNullable<Report<MessageId>["fixes"]> =
    edit === undefined
      ? []
      : [{ title: "accumulate", values: { argument }, safety: "review", edits: [edit] }];
  context.report({
    at: metrics,
    message: "kept",
    values: { argument },
    related: [
      { at: settings, message: "settings" },
      ...(model === undefined ? [] : [{ at: model, message: "model" as const }]),
    ],
    fixes: fix,
  });
}
