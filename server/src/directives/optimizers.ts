/**
 * Names of optimizers as the header writes them: what completion offers and corrections are taken from. The reader takes
 * every name that `memory/optimizers.ts` knows.
 */

export const optimizerNames: readonly string[] = [
  "sgd",
  "sgd-momentum",
  "adam",
  "adamw",
  "adamax",
  "nadam",
  "radam",
  "adagrad",
  "adadelta",
  "rmsprop",
  "rprop",
  "asgd",
  "lbfgs",
  "sparseadam",
  "adafactor",
  "muon",
  "adam8bit",
  "adamw8bit",
  "paged_adam8bit",
  "paged_adamw8bit",
  "lion",
  "lion8bit",
  "paged_lion8bit",
  "lamb",
];

export const optimizerMeanings: Readonly<Record<string, string>> = {
  momentum: "sgd-momentum",
  sgdm: "sgd-momentum",
  sgd_momentum: "sgd-momentum",
  "adam-w": "adamw",
  "8bit-adam": "adam8bit",
  "8bit-adamw": "adamw8bit",
  adamw_8bit: "adamw8bit",
  adam_8bit: "adam8bit",
  "adamw-8bit": "adamw8bit",
  "adam-8bit": "adam8bit",
};
