/** What a script says of its data: data sets and the loaders over them, how it splits them, what it seeds. */
import type { Call, Expression } from "../../python/tree";
import type { SetupContext } from "../script-setup";

/** A data set that a loader or a trainer is given. */
export interface ScriptDataset {
  /** `training`: a training loop runs over its loader, the loader shuffles, or it is a trainer's `train_dataset`. */
  readonly use: "training" | "other";
  /** Its construction where the file has one, else the expression that stands for it. */
  readonly dataset: Expression;
}

/** A call that sets the state of a random generator. */
export interface ScriptSeed {
  readonly call: Call;
  /** The seed where the script alone says it. */
  readonly value: number | undefined;
}

export interface ScriptData {
  /** In source order, each once. */
  readonly datasets: readonly ScriptDataset[];
  /** Calls that divide a data set: `random_split(…)`, `train_test_split(…)`, `KFold(…)`. */
  readonly splits: readonly Call[];
  readonly seeds: readonly ScriptSeed[];
}

const loaders = /^torch\.utils\.data\.DataLoader$|^torchdata\.(\w+\.)*StatefulDataLoader$/;
const splitters =
  /^torch\.utils\.data\.(random_split|SubsetRandomSampler|Subset)$|^sklearn\.model_selection\.(train_test_split|\w*KFold|\w*ShuffleSplit|LeaveOneGroupOut)$/;
/**
 * Functions that seed; the first argument is the seed. https://pytorch.org/docs/stable/notes/randomness.html, Lightning's
 * `seed_everything`, Transformers' and Accelerate's `set_seed`.
 */
const seeders =
  /^torch\.(cuda\.)?(manual_seed|manual_seed_all)$|^random\.seed$|^numpy\.random\.(seed|default_rng)$|^lightning\.(\w+\.)*seed_everything$|^(transformers|accelerate)\.(\w+\.)*set_seed$/;
const generator = "torch.Generator";

/** `TrainingArguments(seed=42)`: https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments */
const trainerSeed = 42;

export function dataOf(context: SetupContext): ScriptData {
  const { resolver } = context;
  const named = (pattern: RegExp): readonly Call[] => resolver.callsOf((name) => pattern.test(name));
  return {
    datasets: datasetsOf(context, named(loaders)),
    splits: [...named(splitters), ...methodSplits(context)].sort(bySource),
    seeds: seedsOf(context, named(seeders)).sort((a, b) => bySource(a.call, b.call)),
  };
}

function datasetsOf(context: SetupContext, made: readonly Call[]): ScriptDataset[] {
  const { resolver, constants, trainingLoops } = context;
  const trained = new Set(
    trainingLoops.loops.map(({ loader }) => loader && resolver.objectOf(loader)?.construction),
  );
  const found = new Map<Expression, ScriptDataset>();
  const add = (given: Expression | undefined, isTraining: boolean): void => {
    if (given === undefined) return;
    const dataset = constructionOf(context, given);
    const use = isTraining || found.get(dataset)?.use === "training" ? "training" : "other";
    found.set(dataset, { use, dataset });
  };
  for (const call of made) {
    const shuffles = constants.valueOf(constants.argument(call, "shuffle", 2)) === true;
    add(constants.argument(call, "dataset", 0), shuffles || trained.has(call));
  }
  for (const call of resolver.callsOf((name) => /(^|\.)\w*Trainer$/.test(name))) {
    add(constants.argument(call, "train_dataset"), true);
    add(constants.argument(call, "eval_dataset"), false);
  }
  return [...found.values()].sort((a, b) => bySource(a.dataset, b.dataset));
}

/** The one call that the file binds the name to; a data set that several places may give stays as written. */
function constructionOf({ resolver }: SetupContext, given: Expression): Expression {
  if (given.kind === "Call") return given;
  const [value, other] = resolver.valuesOf(given);
  return value?.kind === "Call" && other === undefined ? value : given;
}

/** `dataset.train_test_split(…)` of Hugging Face's data sets: a method, whatever the object's name. */
function methodSplits({ resolver }: SetupContext): Call[] {
  return (resolver.index.callsByName.get("train_test_split") ?? []).filter(
    ({ callee }) => callee.kind === "Attribute" && resolver.qualifiedName(callee) === undefined,
  );
}

function seedsOf({ resolver, constants, trainers }: SetupContext, made: readonly Call[]): ScriptSeed[] {
  const isGenerator = (expression: Expression): boolean => {
    const values = expression.kind === "Call" ? [expression] : resolver.valuesOf(expression);
    return values.some(
      (value) => value.kind === "Call" && resolver.qualifiedName(value.callee) === generator,
    );
  };
  const ofGenerators = (resolver.index.callsByName.get("manual_seed") ?? []).filter(
    ({ callee }) => callee.kind === "Attribute" && isGenerator(callee.object),
  );
  // Without an argument they seed from the clock.
  const seeds: ScriptSeed[] = [...made, ...ofGenerators]
    .filter(({ positional, keywords }) => positional.length + keywords.length > 0)
    .map((call) => ({
      call,
      value: constants.numberOf(call.positional[0] ?? constants.argument(call, "seed")),
    }));
  const configured = trainers.arguments;
  if (configured !== undefined && !constants.hidesArguments(configured)) {
    const given = constants.argument(configured, "seed");
    seeds.push({ call: configured, value: given === undefined ? trainerSeed : constants.numberOf(given) });
  }
  return seeds;
}

function bySource(a: { readonly start: number }, b: { readonly start: number }): number {
  return a.start - b.start;
}
