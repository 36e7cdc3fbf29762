/** What a model of transformers is given in training, as a header would say it: where the script does not show it. */
import { ObjectValue, type Value } from "../values";
import { integer } from "../numbers";

/** Tokens of the example: what scripts for encoders and for decoders truncate to most. */
const lengths = { encoder: 128, decoder: 512 } as const;

/** Labels by the end of the class's name: their dimensions, and how many there are. */
const labels: readonly (readonly [RegExp, (sizes: Sizes) => readonly string[]])[] = [
  [/ForSequenceClassification$|ForImageClassification$/, ({ classes }) => [`labels=int64[B]<${classes}`]],
  [/ForTokenClassification$/, ({ length, classes }) => [`labels=int64[B,${length}]<${classes}`]],
  [
    /ForQuestionAnswering$/,
    ({ length }) => [`start_positions=int64[B]<${length}`, `end_positions=int64[B]<${length}`],
  ],
  [
    /ForCausalLM$|LMHeadModel$|ForMaskedLM$|ForConditionalGeneration$/,
    ({ length, words }) => [`labels=int64[B,${length}]<${words}`],
  ],
];

interface Sizes {
  readonly length: number;
  readonly words: number;
  readonly classes: number;
}

/** Entries of a header for the model; undefined for models that take other things than tokens or images. */
export function pretrainedInput(model: ObjectValue): readonly string[] | undefined {
  const { name } = model.type;
  const configuration = model.attributes.get("config");
  if (!(configuration instanceof ObjectValue)) return undefined;
  const read = (key: string): Value =>
    configuration.attributes.get(key) ?? configuration.type.attribute(key) ?? null;
  const number = (key: string): number | undefined => integer(read(key));
  const head = labels.find(([pattern]) => pattern.test(name));
  const [words, size] = [number("vocab_size"), number("image_size")];
  if (head === undefined) return undefined;
  const isDecoder = /ForCausalLM$|LMHeadModel$/.test(name);
  const sizes: Sizes = {
    length: isDecoder ? lengths.decoder : lengths.encoder,
    words: words ?? 0,
    classes: number("num_labels") ?? 2,
  };
  const isImage = name.endsWith("ForImageClassification");
  if (isImage ? size === undefined : words === undefined) return undefined;
  const given = isImage
    ? [`pixel_values=float32[B,${number("num_channels") ?? 3},${size},${size}]`]
    : [`input_ids=int64[B,${sizes.length}]<${words}`, `attention_mask=int64[B,${sizes.length}]<2`];
  return [...[...given, ...head[1](sizes)].map((one) => `input=${one}`), "loss=model"];
}
