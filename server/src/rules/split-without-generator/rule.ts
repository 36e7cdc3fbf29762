/**
 * A random split of the data in a script that sets no seed: `random_split` draws from the default generator, whose seed is another
 * one in each process (torch/utils/data/dataset.py, `random_split`; torch/random.py, `default_generator`), and scikit-learn's
 * `train_test_split` from NumPy's (https://scikit-learn.org/stable/common_pitfalls.html#controlling-randomness).
 */
import { keyword } from "../../python/keyword";
import { lastName } from "../../python/last-name";
import type { Call, Import, ImportFrom } from "../../python/tree";
import { appendArgument } from "../fix";
import { defineRule, type RuleContext } from "../rule";

type MessageId = "unseeded" | "resumed" | "resumes" | "seed";

export const rule = defineRule<MessageId>({
  name: "split-without-generator",
  group: "data",
  level: "information",
  summary: {
    en: "The data is split at random, and no seed is set: each run trains on other samples.",
    "zh-cn": "数据被随机划分，却没有设置种子：每次运行用不同的样本训练。",
  },
  messages: {
    unseeded: {
      en: "Nothing here sets a seed, so each run splits the data in another way: losses and peaks of memory of two runs are those of different samples. Say which: `{argument}`.",
      "zh-cn":
        "这里没有任何代码设置种子，因此每次运行的数据划分都不同：两次运行的损失和显存峰值对应的是不同的样本。请指定：`{argument}`。",
    },
    resumed: {
      en: "Nothing here sets a seed, so each run splits the data in another way: a run that resumes from the checkpoint validates on samples that it has been trained on. Say which: `{argument}`.",
      "zh-cn":
        "这里没有任何代码设置种子，因此每次运行的数据划分都不同：从检查点恢复的运行会用训练过的样本做验证。请指定：`{argument}`。",
    },
    resumes: { en: "A checkpoint is loaded here.", "zh-cn": "检查点在这里加载。" },
    seed: { en: "Split alike in each run: `{argument}`", "zh-cn": "每次运行都同样划分：`{argument}`" },
  },
  calls: ["random_split", "train_test_split"],
  create: (context) => ({
    Call(call) {
      check(context, call);
    },
  }),
});

interface Split {
  /** Arguments that say what is drawn. */
  readonly saying: readonly string[];
  /** The place of the generator among the positional arguments. */
  readonly position: number;
}

const splits: Readonly<Record<string, Split>> = {
  "torch.utils.data.random_split": { saying: ["generator"], position: 2 },
  "torch.utils.data.dataset.random_split": { saying: ["generator"], position: 2 },
  "sklearn.model_selection.train_test_split": { saying: ["random_state", "shuffle"], position: Infinity },
};

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch } = context;
  const name = torch.resolve.qualifiedName(call.callee) ?? "";
  const split = splits[name];
  if (split === undefined || call.keywordSpreads.length > 0 || call.positional.length > split.position)
    return;
  const given = split.saying.map((one) => keyword(call, one));
  if (given.some((value) => value !== undefined && value.kind !== "None")) return;
  if (!isScript(context, call) || !trains(context) || isSeeded(context)) return;
  const isTorch = name.startsWith("torch.");
  const loaded = resumes(context);
  const argument = isTorch ? "generator=torch.Generator().manual_seed(0)" : "random_state=0";
  const canSay = given.every((value) => value === undefined) && (!isTorch || isTorchNamed(context));
  const edit = canSay ? appendArgument(context.source, call, argument) : undefined;
  context.report({
    at: call.callee,
    message: loaded === undefined ? "unseeded" : "resumed",
    values: { argument },
    related: loaded === undefined ? [] : [{ at: loaded, message: "resumes" }],
    fixes: edit ? [{ title: "seed", values: { argument }, safety: "review", edits: [edit] }] : [],
  });
}

/** Run as it is; a file that others import is seeded by whoever does. */
function isScript({ torch: { resolve } }: RuleContext, call: Call): boolean {
  return resolve.enclosingFunction(call) === undefined || resolve.index.namesById.has("__name__");
}

/** Trains with what it has split. */
function trains({ torch }: RuleContext): boolean {
  return torch.trainingLoops.loops.some(({ steps }) => steps.length > 0);
}

const seeding = /seed|determinis|reproduc|rng/i;

/** A call named after seeds, or an import from a file of the workspace that has any. */
function isSeeded({ torch }: RuleContext): boolean {
  const { index } = torch.resolve;
  if (
    [...index.callsByName.keys(), ...index.namesById.keys(), ...index.attributesByName.keys()].some((name) =>
      seeding.test(name),
    )
  )
    return true;
  return index.imports.some((statement) => seedsWhenCalled(torch, statement));
}

function seedsWhenCalled({ findFile }: RuleContext["torch"], statement: Import | ImportFrom): boolean {
  const files =
    statement.kind === "ImportFrom"
      ? [
          findFile(statement.module, statement.level),
          ...statement.names.map(({ name }) =>
            findFile(statement.module === "" ? name : `${statement.module}.${name}`, statement.level),
          ),
        ]
      : statement.names.map(({ name }) => findFile(name, 0));
  return files.some((file) => file !== undefined && seeding.test(file.source.text));
}

/** A file of weights and states that the script goes on from. */
function resumes({ torch: { resolve } }: RuleContext): Call | undefined {
  const isOptimizer = ({ callee }: Call): boolean =>
    callee.kind === "Attribute" && /optim/i.test(lastName(callee.object) ?? "");
  return resolve.index.callsByName.get("load_state_dict")?.find(isOptimizer);
}

/** The edit names `torch`. */
function isTorchNamed({ torch: { scopes } }: RuleContext): boolean {
  const [binding, other] = scopes.module.bindings.get("torch") ?? [];
  return binding?.importPath === "torch" && other === undefined;
}
