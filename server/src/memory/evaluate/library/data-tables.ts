/**
 * pandas and scikit-learn as far as the shape of training data goes through them: which columns a script takes is in its text,
 * how many rows there are only a run can know. Sources: https://pandas.pydata.org/docs/reference/,
 * https://scikit-learn.org/stable/api/ (sizes of the data sets that come with it: sklearn/datasets/descr/).
 */
import type { Span } from "../../../python/tree";
import { isFloating, type Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { integer } from "../numbers";
import {
  ListValue,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { libraryClass, libraryObject } from "./library-class";
import { formOfArray, openArray, type OpenShape } from "./open-arrays";

/** A table: its rows are not known, its columns where the script picked them. */
function tableOf(interpreter: Interpreter, columns: number | undefined): ObjectValue {
  return libraryObject(interpreter, table, { " columns": columns ?? null });
}

function columnsOf(value: Value): number | undefined {
  return value instanceof ObjectValue ? integer(value.attributes.get(" columns") ?? null) : undefined;
}

const same: Native = (_, args) => args.at(0) ?? null;

const asArray: Native = (interpreter, args) =>
  openArray(interpreter, [undefined, columnsOf(args.at(0) ?? null)], undefined);

/** `table["name"]` is a column, `table[["a", "b"]]` a table of these; any other index picks rows. */
const pick: Native = (interpreter, args, span) => {
  const index = args.at(1) ?? null;
  if (typeof index === "string") return openArray(interpreter, [undefined], undefined);
  const items = index instanceof ListValue ? itemsOf(interpreter, index, span) : undefined;
  if (items !== undefined && !isUnknown(items) && items.every((item) => typeof item === "string"))
    return tableOf(interpreter, items.length);
  return formOfArray(index) === undefined
    ? interpreter.unknown("call", span, { name: "DataFrame[]" })
    : (args.at(0) ?? null);
};

/** `table.iloc[rows, columns]`: as of the array that it holds; one row is as the row of an array. */
const byPosition: Native = (interpreter, args) => {
  const array = asArray(interpreter, args, undefined);
  return array;
};

/** Without the columns that are named: how many are left is known where it was before. */
const dropped: Native = (interpreter, args, span) => {
  const before = columnsOf(args.at(0) ?? null);
  const axis = args.keywords.get("axis") ?? args.at(2) ?? null;
  const given =
    args.keywords.get("columns") ?? (axis === 1 || axis === "columns" ? (args.at(1) ?? null) : null);
  if (given === null) return args.at(0) ?? null;
  const items = typeof given === "string" ? [given] : itemsOf(interpreter, given, span);
  return tableOf(interpreter, before === undefined || isUnknown(items) ? undefined : before - items.length);
};

const table = libraryClass("DataFrame", {
  __getitem__: pick,
  __setitem__: () => null,
  __len__: (interpreter, _, span) => interpreter.unknown("dataSize", span, { axis: 0 }),
  drop: dropped,
  to_numpy: asArray,
  ...Object.fromEntries(
    [
      "copy",
      "head",
      "tail",
      "sample",
      "reset_index",
      "dropna",
      "fillna",
      "sort_values",
      "astype",
      "apply",
    ].map((name) => [name, same]),
  ),
});
table.attributes.set("values", new PropertyValue(new NativeFunction("values", asArray)));
table.attributes.set("iloc", new PropertyValue(new NativeFunction("iloc", byPosition)));

const readTable: Native = (interpreter) => tableOf(interpreter, undefined);

/** An array or a table with another number of rows. */
function withRows(interpreter: Interpreter, value: Value, span: Span | undefined): Value {
  if (value instanceof ObjectValue && value.type === table) return value;
  const form = formOfArray(value);
  if (form === undefined)
    return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "train_test_split" });
  return openArray(interpreter, [undefined, ...form.shape.slice(1)], form.dtype);
}

/** `train_test_split(x, y, …)`: two parts of each. */
const split: Native = (interpreter, args, span) =>
  new ListValue(
    args.positional.flatMap((value) => [
      withRows(interpreter, value, span),
      withRows(interpreter, value, span),
    ]),
  );

/** What a scaler gives: as many columns; doubles unless it was given single precision. */
const scaled: Native = (interpreter, args, span) => {
  const given = args.at(1) ?? null;
  const columns = columnsOf(given);
  const isTable = given instanceof ObjectValue && given.type === table;
  const form = isTable
    ? { shape: [undefined, columns] as OpenShape, dtype: "float64" as const }
    : formOfArray(given);
  if (form === undefined)
    return isUnknown(given) ? given : interpreter.unknown("call", span, { name: "transform" });
  const dtype = form.dtype !== undefined && isFloating(form.dtype) ? form.dtype : "float64";
  return openArray(interpreter, form.shape, dtype);
};

const scaler = libraryClass("Scaler", {
  fit: same,
  transform: scaled,
  fit_transform: scaled,
  inverse_transform: scaled,
});

/** Class numbers of labels. */
const encoded: Native = (interpreter, args, span) => {
  const given = args.at(1) ?? null;
  const form = formOfArray(given);
  if (form !== undefined) return openArray(interpreter, [form.shape[0]], "int64");
  return isUnknown(given) ? given : interpreter.unknown("call", span, { name: "LabelEncoder" });
};

const encoder = libraryClass("LabelEncoder", { fit: same, transform: encoded, fit_transform: encoded });

interface SampleData {
  readonly rows: number;
  readonly columns: number;
  readonly target: Dtype;
}

/** The data sets that come with scikit-learn, and the one that is mostly fetched. */
const samples: Readonly<Record<string, SampleData>> = {
  load_iris: { rows: 150, columns: 4, target: "int64" },
  load_digits: { rows: 1797, columns: 64, target: "int64" },
  load_breast_cancer: { rows: 569, columns: 30, target: "int64" },
  load_wine: { rows: 178, columns: 13, target: "int64" },
  load_diabetes: { rows: 442, columns: 10, target: "float64" },
  fetch_california_housing: { rows: 20_640, columns: 8, target: "float64" },
};

const bunch = libraryClass("Bunch", {});

function sampleData(name: string, { rows, columns, target }: SampleData): Native {
  return (interpreter, args, span) => {
    if (args.keywords.get("as_frame") === true || args.keywords.has("n_class"))
      return interpreter.unknown("call", span, { name: `sklearn.datasets.${name}` });
    const data = openArray(interpreter, [rows, columns], "float64");
    const labels = openArray(interpreter, [rows], target);
    return args.keywords.get("return_X_y") === true
      ? new TupleValue([data, labels])
      : libraryObject(interpreter, bunch, { data, target: labels });
  };
}

/** `make_moons(n_samples)` and the like: data and labels. */
function madeData(name: string, columns: number, featuresAt: number | undefined, target: Dtype): Native {
  return (interpreter, args, span) => {
    const rows = integer(args.or(0, "n_samples", 100));
    const asked = featuresAt === undefined ? columns : integer(args.or(featuresAt, "n_features", columns));
    if (rows === undefined || asked === undefined)
      return args.unknown() ?? interpreter.unknown("call", span, { name: `sklearn.datasets.${name}` });
    return new TupleValue([
      openArray(interpreter, [rows, asked], "float64"),
      openArray(interpreter, [rows], target),
    ]);
  };
}

const scalers =
  "StandardScaler MinMaxScaler RobustScaler MaxAbsScaler Normalizer PowerTransformer QuantileTransformer";

export const tableFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(
    ["read_csv", "read_excel", "read_parquet", "read_table", "read_json", "read_feather", "read_pickle"].map(
      (name) => [`pandas.${name}`, readTable],
    ),
  ),
  "sklearn.model_selection.train_test_split": split,
  ...Object.fromEntries(
    scalers
      .split(" ")
      .map((name) => [
        `sklearn.preprocessing.${name}`,
        ((interpreter) => libraryObject(interpreter, scaler, {})) satisfies Native,
      ]),
  ),
  "sklearn.preprocessing.LabelEncoder": (interpreter) => libraryObject(interpreter, encoder, {}),
  ...Object.fromEntries(
    Object.entries(samples).map(([name, data]) => [`sklearn.datasets.${name}`, sampleData(name, data)]),
  ),
  "sklearn.datasets.make_classification": madeData("make_classification", 20, 1, "int64"),
  "sklearn.datasets.make_moons": madeData("make_moons", 2, undefined, "int64"),
  "sklearn.datasets.make_circles": madeData("make_circles", 2, undefined, "int64"),
  "sklearn.datasets.make_blobs": madeData("make_blobs", 2, 1, "int64"),
};
